// Fills the pads with images of the grid: periodic, periodic, periodic; grids thinner than the pads repeat.
const NX = 24; const NY = 20; const NZ = 50;
const ORIGIN = 86280; const SLICE = 21504; const PITCH = 64;
const PLANES = 12; const PLANE = 1792;
const WX = 4; const WY = 4; const WZ = 4;
@group(0) @binding(0) var<storage, read_write> now: array<f32>;
@group(0) @binding(1) var<storage, read_write> before: array<f32>;

// The i-th cell of a pad pair of width w around n cells: -w … -1, n … n+w-1.
fn padded(i: i32, w: i32, n: i32) -> i32 { return select(i - w, i - w + n, i >= w); }
// Vulkan leaves the remainder of a negative number open, and NVIDIA takes it as unsigned: i is made positive first.
fn wrapped(i: i32, n: i32) -> i32 { return (i + 4 * n) % n; }

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  var i = i32(id.x + id.y * groups.x * 256u);
  let plane = i / 27968 * PLANE;
  i %= 27968;
  if (plane >= SLICE) { return; }
  var cell = vec3i();
  if (i < 12992) {
    let z = i % (NZ + 2 * WZ) - WZ;
    i /= NZ + 2 * WZ;
    cell = vec3i(padded(i / (NY + 2 * WY), WX, NX), i % (NY + 2 * WY) - WY, z);
  } else if (i < 24128) {
    i -= 12992;
    let z = i % (NZ + 2 * WZ) - WZ;
    i /= NZ + 2 * WZ;
    cell = vec3i(i / (2 * WY), padded(i % (2 * WY), WY, NY), z);
  } else if (i < 27968) {
    i -= 24128;
    let z = padded(i % (2 * WZ), WZ, NZ);
    i /= 2 * WZ;
    cell = vec3i(i / NY, i % NY, z);
  } else {
    return;
  }
  let image = vec3i(wrapped(cell.x, NX), wrapped(cell.y, NY), wrapped(cell.z, NZ));
  let source = ORIGIN + plane + image.x * SLICE + image.y * PITCH + image.z;
  now[ORIGIN + plane + cell.x * SLICE + cell.y * PITCH + cell.z] = now[source];
}
