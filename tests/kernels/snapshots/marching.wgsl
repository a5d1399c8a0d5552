// acoustic wave equation, order 2: one step; each workgroup marches along x over 12 slices.
const NX = 24; const NY = 20; const NZ = 50;
const ORIGIN = 1480; const SLICE = 1408; const PITCH = 64;
const SLICES = 12;
const ROWS = 6; const COLUMNS = 34;
const W0 = 0.3799999952316284f;
const W1 = 0.27000001072883606f;
@group(0) @binding(0) var<storage, read_write> now: array<f32>;
@group(0) @binding(1) var<storage, read_write> before: array<f32>;
var<workgroup> tile: array<array<f32, COLUMNS>, 12>;

@compute @workgroup_size(32, 4)
fn main(@builtin(local_invocation_id) l: vec3u, @builtin(workgroup_id) w: vec3u) {
  let local = vec2i(l.xy);
  let z = i32(w.x) * 32 + local.x;
  let y = i32(w.y) * 4 + local.y;
  let first = i32(w.z) * SLICES;
  let last = min(first + SLICES, NX);
  let mine = z < NZ && y < NY;
  let column = local.x + 1;
  var half = 0;
  var cell = ORIGIN + first * SLICE + y * PITCH + z;
  var behind1 = now[cell - 1 * SLICE];
  var here = now[cell];
  var ahead1 = 0.0f;
  for (var x = first; x < last; x++) {
    ahead1 = now[cell + 1 * SLICE];
    let row = half + local.y + 1;
    tile[row][column] = here;
    if (local.y < 2) {
      let r = select(local.y + 4, local.y, local.y < 1);
      tile[half + r][local.x + 1] = now[cell + (r - 1 - local.y) * PITCH];
    }
    if (local.x < 2) {
      let c = select(local.x + 32, local.x, local.x < 1);
      tile[row][c] = now[cell + c - 1 - local.x];
    }
    workgroupBarrier();
    if (mine) { before[cell] = W0 * here - before[cell] + W1 * (tile[row][column - 1] + tile[row][column + 1] + (tile[row - 1][column] + tile[row + 1][column]) + (behind1 + ahead1)); }
    behind1 = here;
    here = ahead1;
    cell += SLICE;
    half = ROWS - half; // the other tile: one barrier a slice is enough
  }
}
