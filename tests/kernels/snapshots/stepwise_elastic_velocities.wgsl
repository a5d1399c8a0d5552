// elastic waves in metres and seconds: sub-step 0, one thread a cell; the pads around the grid make branches unnecessary.
const NX = 24; const NY = 20; const NZ = 50;
const ORIGIN = 86280; const SLICE = 21504; const PITCH = 64;
const PLANES = 12; const PLANE = 1792;
const W0 = 196.0f;
const W1 = 1.125f;
const W2 = 0.0416666679084301f;
@group(0) @binding(0) var<storage, read_write> now: array<f32>;
@group(0) @binding(1) var<storage, read_write> before: array<f32>;
@group(0) @binding(3) var<storage, read> profiles: array<f32>;

@compute @workgroup_size(32, 4, 1)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let z = i32(id.x); let y = i32(id.y); let x = i32(id.z);
  if (z >= NZ || y >= NY || x >= NX) { return; }
  let cell = ORIGIN + x * SLICE + y * PITCH + z;
  let e0 = profiles[y + 76];
  let e1 = profiles[z + 140];
  let e2 = profiles[x + 40] * e0 * e1;
  let e3 = now[cell + 11 * PLANE];
  let e4 = now[cell + 6 * PLANE];
  let e5 = now[cell + 7 * PLANE];
  let e6 = profiles[x + 4];
  let e7 = e6 * profiles[y + 108] * e1;
  let e8 = now[cell + 8 * PLANE];
  let e9 = e6 * e0 * profiles[z + 202];
  let new0 = e2 * (e2 * now[cell] + W0 / (e3 + now[cell + 11 * PLANE - SLICE]) * (W1 * (now[cell + 3 * PLANE] - now[cell + 3 * PLANE - SLICE]) - W2 * (now[cell + 3 * PLANE + SLICE] - now[cell + 3 * PLANE - 2 * SLICE]) + (W1 * (now[cell + 6 * PLANE + PITCH] - e4) - W2 * (now[cell + 6 * PLANE + 2 * PITCH] - now[cell + 6 * PLANE - PITCH])) + (W1 * (now[cell + 7 * PLANE + 1] - e5) - W2 * (now[cell + 7 * PLANE + 2] - now[cell + 7 * PLANE - 1]))));
  let new1 = e7 * (e7 * now[cell + PLANE] + W0 / (e3 + now[cell + 11 * PLANE - PITCH]) * (W1 * (now[cell + 6 * PLANE + SLICE] - e4) - W2 * (now[cell + 6 * PLANE + 2 * SLICE] - now[cell + 6 * PLANE - SLICE]) + (W1 * (now[cell + 4 * PLANE] - now[cell + 4 * PLANE - PITCH]) - W2 * (now[cell + 4 * PLANE + PITCH] - now[cell + 4 * PLANE - 2 * PITCH])) + (W1 * (now[cell + 8 * PLANE + 1] - e8) - W2 * (now[cell + 8 * PLANE + 2] - now[cell + 8 * PLANE - 1]))));
  let new2 = e9 * (e9 * now[cell + 2 * PLANE] + W0 / (e3 + now[cell + 11 * PLANE - 1]) * (W1 * (now[cell + 7 * PLANE + SLICE] - e5) - W2 * (now[cell + 7 * PLANE + 2 * SLICE] - now[cell + 7 * PLANE - SLICE]) + (W1 * (now[cell + 8 * PLANE + PITCH] - e8) - W2 * (now[cell + 8 * PLANE + 2 * PITCH] - now[cell + 8 * PLANE - PITCH])) + (W1 * (now[cell + 5 * PLANE] - now[cell + 5 * PLANE - 1]) - W2 * (now[cell + 5 * PLANE + 1] - now[cell + 5 * PLANE - 2]))));
  before[cell] = new0;
  before[cell + PLANE] = new1;
  before[cell + 2 * PLANE] = new2;
}
