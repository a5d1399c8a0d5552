// elastic waves, scattered medium: sub-step 0, one thread a cell; the pads around the grid make branches unnecessary.
const NX = 24; const NY = 20; const NZ = 50;
const ORIGIN = 93448; const SLICE = 23296; const PITCH = 64;
const PLANES = 13; const PLANE = 1792;
const W0 = 0.5010575652122498f;
const W1 = 0.018557686358690262f;
const W2 = 0.2571428716182709f;
@group(0) @binding(0) var<storage, read_write> now: array<f32>;
@group(0) @binding(1) var<storage, read_write> before: array<f32>;
struct Time { signal: f32 }
@group(0) @binding(2) var<uniform> time: Time;

@compute @workgroup_size(32, 4, 1)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let z = i32(id.x); let y = i32(id.y); let x = i32(id.z);
  if (z >= NZ || y >= NY || x >= NX) { return; }
  let cell = ORIGIN + x * SLICE + y * PITCH + z;
  let e0 = now[cell + 9 * PLANE];
  let e1 = now[cell + 6 * PLANE];
  let e2 = now[cell + 7 * PLANE];
  let e3 = W2 * (now[cell + 12 * PLANE] * time.signal);
  let e4 = now[cell + 8 * PLANE];
  let new0 = now[cell] + e0 * (W0 * (now[cell + 3 * PLANE + SLICE] - now[cell + 3 * PLANE]) - W1 * (now[cell + 3 * PLANE + 2 * SLICE] - now[cell + 3 * PLANE - SLICE]) + (W0 * (e1 - now[cell + 6 * PLANE - PITCH]) - W1 * (now[cell + 6 * PLANE + PITCH] - now[cell + 6 * PLANE - 2 * PITCH])) + (W0 * (e2 - now[cell + 7 * PLANE - 1]) - W1 * (now[cell + 7 * PLANE + 1] - now[cell + 7 * PLANE - 2])) + e3);
  let new1 = now[cell + PLANE] + e0 * (W0 * (e1 - now[cell + 6 * PLANE - SLICE]) - W1 * (now[cell + 6 * PLANE + SLICE] - now[cell + 6 * PLANE - 2 * SLICE]) + (W0 * (now[cell + 4 * PLANE + PITCH] - now[cell + 4 * PLANE]) - W1 * (now[cell + 4 * PLANE + 2 * PITCH] - now[cell + 4 * PLANE - PITCH])) + (W0 * (e4 - now[cell + 8 * PLANE - 1]) - W1 * (now[cell + 8 * PLANE + 1] - now[cell + 8 * PLANE - 2])) + e3);
  let new2 = now[cell + 2 * PLANE] + e0 * (W0 * (e2 - now[cell + 7 * PLANE - SLICE]) - W1 * (now[cell + 7 * PLANE + SLICE] - now[cell + 7 * PLANE - 2 * SLICE]) + (W0 * (e4 - now[cell + 8 * PLANE - PITCH]) - W1 * (now[cell + 8 * PLANE + PITCH] - now[cell + 8 * PLANE - 2 * PITCH])) + (W0 * (now[cell + 5 * PLANE + 1] - now[cell + 5 * PLANE]) - W1 * (now[cell + 5 * PLANE + 2] - now[cell + 5 * PLANE - 1])) + e3);
  before[cell] = new0;
  before[cell + PLANE] = new1;
  before[cell + 2 * PLANE] = new2;
}
