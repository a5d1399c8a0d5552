// acoustic wave equation, order 4: one step; each workgroup marches along x over 12 slices.
const NX = 24; const NY = 20; const NZ = 50;
const ORIGIN = 1604; const SLICE = 768; const PITCH = 32; // in elements of 2 cells
const SLICES = 12;
const W0 = 0.48124992847442627f;
const W1 = 0.27000001072883606f;
const W2 = -0.016874998807907104f;
@group(0) @binding(0) var<storage, read_write> now: array<vec2f>;
@group(0) @binding(1) var<storage, read_write> before: array<vec2f>;
const ROWS = 12; const COLUMNS = 18;
var<workgroup> tiles: array<array<array<vec2f, COLUMNS>, 24>, 1>;

@compute @workgroup_size(16, 8)
fn main(@builtin(local_invocation_id) l: vec3u, @builtin(workgroup_id) w: vec3u) {
  let column = i32(l.x); let row = i32(l.y);
  let element = i32(w.x) * 16 + column;
  let z = 2 * element;
  let y = i32(w.y) * 8 + row;
  let first = i32(w.z) * SLICES;
  let last = min(first + SLICES, NX);
  let insideY = u32(y) < u32(NY);
  let inside = vec2<bool>(u32(z) < u32(NZ), u32(z + 1) < u32(NZ)) & vec2<bool>(insideY);
  let mine = insideY && u32(z) < u32(NZ);
  var half = 0; // of the tiles, by turns: one barrier is enough
  var cell = ORIGIN + first * SLICE + y * PITCH + element;
  var c0_m2 = now[cell - 2 * SLICE];
  var c0_m1 = now[cell - SLICE];
  var c0_0 = now[cell];
  var c0_1 = now[cell + SLICE];
  var c0_2 = vec2f();
  var c1_0 = vec2f();
  for (var x = first; x < last; x++) {
    c0_2 = now[cell + 2 * SLICE];
    c1_0 = before[cell];
    tiles[0][half + row + 2][column + 1] = c0_0;
    if (row < 2) {
      tiles[0][half + row][column + 1] = now[cell - 2 * PITCH];
      tiles[0][half + row + 10][column + 1] = now[cell + 8 * PITCH];
    }
    if (column < 1) {
      tiles[0][half + row + 2][column] = now[cell - 1];
      tiles[0][half + row + 2][column + 17] = now[cell + 16];
    }
    workgroupBarrier();
    let r0_0 = tiles[0][half + row + 2][column];
    let r0_1 = tiles[0][half + row + 2][column + 2];
    let r0_2 = tiles[0][half + row + 1][column + 1];
    let r0_3 = tiles[0][half + row + 3][column + 1];
    let r0_4 = tiles[0][half + row][column + 1];
    let r0_5 = tiles[0][half + row + 4][column + 1];
    if (mine) {
      let new0 = W0 * c0_0 - c1_0 + W1 * (vec2f(r0_0.y, c0_0.x) + vec2f(c0_0.y, r0_1.x) + (r0_2 + r0_3) + (c0_m1 + c0_1)) + W2 * (r0_0 + r0_1 + (r0_4 + r0_5) + (c0_m2 + c0_2));
      before[cell] = new0;
    }
    c0_m2 = c0_m1;
    c0_m1 = c0_0;
    c0_0 = c0_1;
    c0_1 = c0_2;
    cell += SLICE;
    half = ROWS - half;
  }
}
