// elastic waves, scattered medium: sub-step 1, one thread a cell; the pads around the grid make branches unnecessary.
const NX = 24; const NY = 20; const NZ = 50;
const ORIGIN = 93448; const SLICE = 23296; const PITCH = 64;
const PLANES = 13; const PLANE = 1792;
const W0 = 0.5010575652122498f;
const W1 = 0.018557686358690262f;
@group(0) @binding(0) var<storage, read_write> now: array<f32>;
@group(0) @binding(1) var<storage, read_write> before: array<f32>;

@compute @workgroup_size(32, 4, 1)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let z = i32(id.x); let y = i32(id.y); let x = i32(id.z);
  if (z >= NZ || y >= NY || x >= NX) { return; }
  let cell = ORIGIN + x * SLICE + y * PITCH + z;
  let e0 = before[cell];
  let e1 = W0 * (e0 - before[cell - SLICE]) - W1 * (before[cell + SLICE] - before[cell - 2 * SLICE]);
  let e2 = before[cell + PLANE];
  let e3 = W0 * (e2 - before[cell + PLANE - PITCH]) - W1 * (before[cell + PLANE + PITCH] - before[cell + PLANE - 2 * PITCH]);
  let e4 = before[cell + 2 * PLANE];
  let e5 = W0 * (e4 - before[cell + 2 * PLANE - 1]) - W1 * (before[cell + 2 * PLANE + 1] - before[cell + 2 * PLANE - 2]);
  let e6 = now[cell + 10 * PLANE] * (e1 + e3 + e5);
  let e7 = now[cell + 11 * PLANE];
  let e8 = e7 + e7;
  let new0 = now[cell + 3 * PLANE] + (e6 + e8 * e1);
  let new1 = now[cell + 4 * PLANE] + (e6 + e8 * e3);
  let new2 = now[cell + 5 * PLANE] + (e6 + e8 * e5);
  let new3 = now[cell + 6 * PLANE] + e7 * (W0 * (before[cell + PITCH] - e0) - W1 * (before[cell + 2 * PITCH] - before[cell - PITCH]) + (W0 * (before[cell + PLANE + SLICE] - e2) - W1 * (before[cell + PLANE + 2 * SLICE] - before[cell + PLANE - SLICE])));
  let new4 = now[cell + 7 * PLANE] + e7 * (W0 * (before[cell + 1] - e0) - W1 * (before[cell + 2] - before[cell - 1]) + (W0 * (before[cell + 2 * PLANE + SLICE] - e4) - W1 * (before[cell + 2 * PLANE + 2 * SLICE] - before[cell + 2 * PLANE - SLICE])));
  let new5 = now[cell + 8 * PLANE] + e7 * (W0 * (before[cell + PLANE + 1] - e2) - W1 * (before[cell + PLANE + 2] - before[cell + PLANE - 1]) + (W0 * (before[cell + 2 * PLANE + PITCH] - e4) - W1 * (before[cell + 2 * PLANE + 2 * PITCH] - before[cell + 2 * PLANE - PITCH])));
  before[cell + 3 * PLANE] = new0;
  before[cell + 4 * PLANE] = new1;
  before[cell + 5 * PLANE] = new2;
  before[cell + 6 * PLANE] = new3;
  before[cell + 7 * PLANE] = new4;
  before[cell + 8 * PLANE] = new5;
}
