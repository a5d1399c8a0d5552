// Initial values of a field: see kernels/initial_field.ts.
const NX = 24; const NY = 20; const NZ = 50;
const ORIGIN = 93448; const SLICE = 23296; const PITCH = 64;
const PLANES = 13; const PLANE = 1792;
const LENGTH = 745480;
struct Fill { seed: u32, firstX: i32, firstY: i32, firstZ: i32, wholeX: i32, wholeY: i32, wholeZ: i32 }
@group(0) @binding(0) var<storage, read_write> field: array<f32>;
@group(0) @binding(2) var<uniform> fill: Fill;

fn hashCell(cell: vec3u, seed: u32) -> u32 {
  var h = cell.x * 1779033703u + cell.y * 3144134277u + cell.z * 1013904243u + seed;
  h = (h ^ (h >> 16u)) * 2246822507u;
  h = (h ^ (h >> 13u)) * 3266489909u;
  return h ^ (h >> 16u);
}

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let index = i32(id.x + id.y * groups.x * 256u);
  if (index >= LENGTH) { return; }
  let first = ORIGIN % PITCH; // what lies before z = 0 in a row
  let row = index / PITCH;
  let z = index % PITCH - first;
  let rowOfSlice = row % (SLICE / PITCH);
  let plane = rowOfSlice / 28;
  let y = rowOfSlice % 28 - ORIGIN % SLICE / PITCH;
  let x = row / (SLICE / PITCH) - ORIGIN / SLICE;
  let inside = x >= 0 && x < NX && y >= 0 && y < NY && z >= 0 && z < NZ;
  let whole = vec3i(fill.wholeX, fill.wholeY, fill.wholeZ);
  let cell = (vec3i(x, y, z) + vec3i(fill.firstX, fill.firstY, fill.firstZ) + whole) % whole;
  let hash = hashCell(vec3u(cell), fill.seed + u32(plane) * 2654435769u);
  var value = f32(hash >> 8u) * 0x1p-23f - 1.0f;
  if (plane >= 9) {
    var materials = array<f32, 32>(0.5625f, 0.625f, 0.6875f, 0.75f, 0.8125f, 0.875f, 0.9375f, 1.0f, 0.28125f, 0.3125f, 0.34375f, 0.375f, 0.40625f, 0.4375f, 0.46875f, 0.5f, 0.140625f, 0.15625f, 0.171875f, 0.1875f, 0.203125f, 0.21875f, 0.234375f, 0.25f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 1.0f);
    value = materials[8 * (plane - 9) + i32(hash >> 29u)];
  }
  field[index] = select(0.0f, value, inside);
}
