// acoustic wave equation, order 4: one step; each workgroup marches along x over 12 slices.
const NX = 24; const NY = 20; const NZ = 50;
const ORIGIN = 3208; const SLICE = 1536; const PITCH = 64;
const SLICES = 12;
const ROWS = 6; const COLUMNS = 36;
const W0 = 0.48124998807907104f;
const W1 = 0.27000001072883606f;
const W2 = -0.016875000670552254f;
@group(0) @binding(0) var<storage, read_write> now: array<f32>;
@group(0) @binding(1) var<storage, read_write> before: array<f32>;
var<workgroup> tile: array<array<f32, COLUMNS>, 12>;

@compute @workgroup_size(32, 2)
fn main(@builtin(local_invocation_id) l: vec3u, @builtin(workgroup_id) w: vec3u) {
  let local = vec2i(l.xy);
  let z = i32(w.x) * 32 + local.x;
  let y = i32(w.y) * 2 + local.y;
  let first = i32(w.z) * SLICES;
  let last = min(first + SLICES, NX);
  let mine = z < NZ && y < NY;
  let column = local.x + 2;
  var half = 0;
  var cell = ORIGIN + first * SLICE + y * PITCH + z;
  var behind2 = now[cell - 2 * SLICE];
  var behind1 = now[cell - 1 * SLICE];
  var here = now[cell];
  var ahead1 = now[cell + 1 * SLICE];
  var ahead2 = 0.0f;
  for (var x = first; x < last; x++) {
    ahead2 = now[cell + 2 * SLICE];
    let row = half + local.y + 2;
    tile[row][column] = here;
    {
      let r = select(local.y + 2, local.y, local.y < 2);
      tile[half + r][local.x + 2] = now[cell + (r - 2 - local.y) * PITCH];
    }
    {
      let r = select((local.y + 2) + 2, (local.y + 2), (local.y + 2) < 2);
      tile[half + r][local.x + 2] = now[cell + (r - 2 - local.y) * PITCH];
    }
    if (local.x < 4) {
      let c = select(local.x + 32, local.x, local.x < 2);
      tile[row][c] = now[cell + c - 2 - local.x];
    }
    workgroupBarrier();
    if (mine) { before[cell] = W0 * here - before[cell] + W1 * (tile[row][column - 1] + tile[row][column + 1] + (tile[row - 1][column] + tile[row + 1][column]) + (behind1 + ahead1)) + W2 * (tile[row][column - 2] + tile[row][column + 2] + (tile[row - 2][column] + tile[row + 2][column]) + (behind2 + ahead2)); }
    behind2 = behind1;
    behind1 = here;
    here = ahead1;
    ahead1 = ahead2;
    cell += SLICE;
    half = ROWS - half; // the other tile: one barrier a slice is enough
  }
}
