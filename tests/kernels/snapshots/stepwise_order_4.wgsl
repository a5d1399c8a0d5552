// acoustic wave equation, order 4: one step, one thread a cell; the pads around the grid make branches unnecessary.
const NX = 24; const NY = 20; const NZ = 50;
const ORIGIN = 3208; const SLICE = 1536; const PITCH = 64;
const W0 = 0.48124992847442627f;
const W1 = 0.27000001072883606f;
const W2 = -0.016874998807907104f;
@group(0) @binding(0) var<storage, read_write> now: array<f32>;
@group(0) @binding(1) var<storage, read_write> before: array<f32>;

@compute @workgroup_size(32, 4, 1)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let z = i32(id.x); let y = i32(id.y); let x = i32(id.z);
  if (z >= NZ || y >= NY || x >= NX) { return; }
  let cell = ORIGIN + x * SLICE + y * PITCH + z;
  before[cell] = W0 * now[cell] - before[cell] + W1 * (now[cell - 1] + now[cell + 1] + (now[cell - PITCH] + now[cell + PITCH]) + (now[cell - SLICE] + now[cell + SLICE])) + W2 * (now[cell - 2] + now[cell + 2] + (now[cell - 2 * PITCH] + now[cell + 2 * PITCH]) + (now[cell - 2 * SLICE] + now[cell + 2 * SLICE]));
}
