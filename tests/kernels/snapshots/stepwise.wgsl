// acoustic wave equation, order 2: one step, one thread a cell; the pads around the grid make branches unnecessary.
const NX = 24; const NY = 20; const NZ = 50;
const ORIGIN = 1480; const SLICE = 1408; const PITCH = 64;
const W0 = 0.37999993562698364f;
const W1 = 0.27000001072883606f;
@group(0) @binding(0) var<storage, read_write> now: array<f32>;
@group(0) @binding(1) var<storage, read_write> before: array<f32>;

@compute @workgroup_size(32, 4, 1)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let z = i32(id.x); let y = i32(id.y); let x = i32(id.z);
  if (z >= NZ || y >= NY || x >= NX) { return; }
  let cell = ORIGIN + x * SLICE + y * PITCH + z;
  before[cell] = W0 * now[cell] - before[cell] + W1 * (now[cell - 1] + now[cell + 1] + (now[cell - PITCH] + now[cell + PITCH]) + (now[cell - SLICE] + now[cell + SLICE]));
}
