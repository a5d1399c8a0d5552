// Initial values of a field: see kernels/initial_field.ts.
const NX = 24; const NY = 20; const NZ = 50;
const ORIGIN = 86280; const SLICE = 21504; const PITCH = 64;
const PLANES = 12; const PLANE = 1792;
const LENGTH = 688136;
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
  var ranges = array<vec3f, 9>(vec3f(-8388608, 16777216, 1.1920928955078125e-7f), vec3f(-8388608, 16777216, 1.1920928955078125e-7f), vec3f(-8388608, 16777216, 1.1920928955078125e-7f), vec3f(-4718592, 9437184, 0.0000019073486328125f), vec3f(-4718592, 9437184, 0.0000019073486328125f), vec3f(-4718592, 9437184, 0.0000019073486328125f), vec3f(-4718592, 9437184, 0.0000019073486328125f), vec3f(-4718592, 9437184, 0.0000019073486328125f), vec3f(-4718592, 9437184, 0.0000019073486328125f));
  let range = ranges[min(plane, 8)];
  value = (f32((hash >> 8u) % u32(range.y)) + range.x) * range.z;
  if (plane >= 9) {
    var materials = array<f32, 24>(11390624768.0f, 12656249856.0f, 13921874944.0f, 15187500032.0f, 16453125120.0f, 17718749184.0f, 18984374272.0f, 20249999360.0f, 5695312384.0f, 6328124928.0f, 6960937472.0f, 7593750016.0f, 8226562560.0f, 8859374592.0f, 9492187136.0f, 10124999680.0f, 2000.0f, 2142.857177734375f, 2285.71435546875f, 2428.571533203125f, 2571.428466796875f, 2714.28564453125f, 2857.142822265625f, 3000.0f);
    value = materials[8 * (plane - 9) + i32(hash >> 29u)];
  }
  field[index] = select(0.0f, value, inside);
}
