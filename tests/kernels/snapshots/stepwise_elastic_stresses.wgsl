// elastic waves in metres and seconds: sub-step 1, one thread a cell; the pads around the grid make branches unnecessary.
const NX = 24; const NY = 20; const NZ = 50;
const ORIGIN = 86280; const SLICE = 21504; const PITCH = 64;
const PLANES = 12; const PLANE = 1792;
const W0 = 9.799999700632611e-11f;
const W1 = 1.125f;
const W2 = 0.0416666679084301f;
const W3 = 1.9599999401265222e-10f;
const W4 = 2.0f;
const W5 = 9.999999717180685e-10f;
@group(0) @binding(0) var<storage, read_write> now: array<f32>;
@group(0) @binding(1) var<storage, read_write> before: array<f32>;
@group(0) @binding(3) var<storage, read> profiles: array<f32>;

@compute @workgroup_size(32, 4, 1)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let z = i32(id.x); let y = i32(id.y); let x = i32(id.z);
  if (z >= NZ || y >= NY || x >= NX) { return; }
  let cell = ORIGIN + x * SLICE + y * PITCH + z;
  let e0 = profiles[x + 4];
  let e1 = profiles[y + 76];
  let e2 = profiles[z + 140];
  let e3 = e0 * e1 * e2;
  let e4 = before[cell];
  let e5 = W1 * (before[cell + SLICE] - e4) - W2 * (before[cell + 2 * SLICE] - before[cell - SLICE]);
  let e6 = before[cell + PLANE];
  let e7 = W1 * (before[cell + PLANE + PITCH] - e6) - W2 * (before[cell + PLANE + 2 * PITCH] - before[cell + PLANE - PITCH]);
  let e8 = before[cell + 2 * PLANE];
  let e9 = W1 * (before[cell + 2 * PLANE + 1] - e8) - W2 * (before[cell + 2 * PLANE + 2] - before[cell + 2 * PLANE - 1]);
  let e10 = W0 * now[cell + 9 * PLANE] * (e5 + e7 + e9);
  let e11 = now[cell + 10 * PLANE];
  let e12 = W3 * e11;
  let e13 = profiles[x + 40];
  let e14 = profiles[y + 108];
  let e15 = e13 * e14 * e2;
  let e16 = W4 * e11;
  let e17 = now[cell + 10 * PLANE - PITCH];
  let e18 = e16 * e17 / max(e11 + e17, W5);
  let e19 = W4 * e18;
  let e20 = now[cell + 10 * PLANE - SLICE];
  let e21 = W4 * e20;
  let e22 = now[cell + 10 * PLANE - SLICE - PITCH];
  let e23 = e21 * e22 / max(e20 + e22, W5);
  let e24 = profiles[z + 202];
  let e25 = e13 * e1 * e24;
  let e26 = now[cell + 10 * PLANE - 1];
  let e27 = e16 * e26 / max(e11 + e26, W5);
  let e28 = now[cell + 10 * PLANE - SLICE - 1];
  let e29 = e21 * e28 / max(e20 + e28, W5);
  let e30 = e0 * e14 * e24;
  let e31 = now[cell + 10 * PLANE - PITCH - 1];
  let e32 = W4 * e26 * e31 / max(e26 + e31, W5);
  let new0 = e3 * (e3 * now[cell + 3 * PLANE] + (e10 + e12 * e5));
  let new1 = e3 * (e3 * now[cell + 4 * PLANE] + (e10 + e12 * e7));
  let new2 = e3 * (e3 * now[cell + 5 * PLANE] + (e10 + e12 * e9));
  let new3 = e15 * (e15 * now[cell + 6 * PLANE] + W0 * (e19 * e23 / max(e18 + e23, W5)) * (W1 * (e4 - before[cell - PITCH]) - W2 * (before[cell + PITCH] - before[cell - 2 * PITCH]) + (W1 * (e6 - before[cell + PLANE - SLICE]) - W2 * (before[cell + PLANE + SLICE] - before[cell + PLANE - 2 * SLICE]))));
  let new4 = e25 * (e25 * now[cell + 7 * PLANE] + W0 * (W4 * e27 * e29 / max(e27 + e29, W5)) * (W1 * (e4 - before[cell - 1]) - W2 * (before[cell + 1] - before[cell - 2]) + (W1 * (e8 - before[cell + 2 * PLANE - SLICE]) - W2 * (before[cell + 2 * PLANE + SLICE] - before[cell + 2 * PLANE - 2 * SLICE]))));
  let new5 = e30 * (e30 * now[cell + 8 * PLANE] + W0 * (e19 * e32 / max(e18 + e32, W5)) * (W1 * (e6 - before[cell + PLANE - 1]) - W2 * (before[cell + PLANE + 1] - before[cell + PLANE - 2]) + (W1 * (e8 - before[cell + 2 * PLANE - PITCH]) - W2 * (before[cell + 2 * PLANE + PITCH] - before[cell + 2 * PLANE - 2 * PITCH]))));
  before[cell + 3 * PLANE] = new0;
  before[cell + 4 * PLANE] = new1;
  before[cell + 5 * PLANE] = new2;
  before[cell + 6 * PLANE] = new3;
  before[cell + 7 * PLANE] = new4;
  before[cell + 8 * PLANE] = new5;
}
