// Fills the pads with images of the grid: insulated, insulated, insulated; grids thinner than the pads repeat.
const NX = 1; const NY = 1; const NZ = 50;
const ORIGIN = 8; const SLICE = 64; const PITCH = 64;
const WX = 0; const WY = 0; const WZ = 1;
@group(0) @binding(0) var<storage, read_write> now: array<f32>;
@group(0) @binding(1) var<storage, read_write> before: array<f32>;

// The i-th cell of a pad pair of width w around n cells: -w … -1, n … n+w-1.
fn padded(i: i32, w: i32, n: i32) -> i32 { return select(i - w, i - w + n, i >= w); }
// Vulkan leaves the remainder of a negative number open, and NVIDIA takes it as unsigned: i is made positive first.
fn wrapped(i: i32, n: i32) -> i32 { return (i + n) % n; }
fn mirrored(i: i32, n: i32) -> i32 {
  let period = max(1, 2 * (n - 1));
  let folded = wrapped(i, period);
  return min(folded, period - folded) % n;
}

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  var i = i32(id.x + id.y * groups.x * 256u);
  var cell = vec3i();
  if (i < 2) {
    let z = padded(i % (2 * WZ), WZ, NZ);
    i /= 2 * WZ;
    cell = vec3i(i / NY, i % NY, z);
  } else {
    return;
  }
  let image = vec3i(mirrored(cell.x, NX), mirrored(cell.y, NY), mirrored(cell.z, NZ));
  let source = ORIGIN + image.x * SLICE + image.y * PITCH + image.z;
  now[ORIGIN + cell.x * SLICE + cell.y * PITCH + cell.z] = now[source];
}
