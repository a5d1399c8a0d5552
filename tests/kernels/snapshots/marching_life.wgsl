// 3D life 5/2-7: one step; each workgroup marches along x over 12 slices.
const NX = 24; const NY = 20; const NZ = 50;
const ORIGIN = 740; const SLICE = 704; const PITCH = 32; // in elements of 2 cells
const SLICES = 12;
const W0 = 5.0f;
const W1 = -2.0f;
const W2 = 3.0f;
@group(0) @binding(0) var<storage, read_write> now: array<vec2f>;
@group(0) @binding(1) var<storage, read_write> before: array<vec2f>;
const ROWS = 6; const COLUMNS = 18;
var<workgroup> tiles: array<array<array<vec2f, COLUMNS>, 12>, 1>;

@compute @workgroup_size(16, 4)
fn main(@builtin(local_invocation_id) l: vec3u, @builtin(workgroup_id) w: vec3u) {
  let column = i32(l.x); let row = i32(l.y);
  let element = i32(w.x) * 16 + column;
  let z = 2 * element;
  let y = i32(w.y) * 4 + row;
  let first = i32(w.z) * SLICES;
  let last = min(first + SLICES, NX);
  let insideY = u32(y) < u32(NY);
  let inside = vec2<bool>(u32(z) < u32(NZ), u32(z + 1) < u32(NZ)) & vec2<bool>(insideY);
  let mine = insideY && u32(z) < u32(NZ);
  var half = 0; // of the tiles, by turns: one barrier is enough
  var cell = ORIGIN + (first - 2) * SLICE + y * PITCH + element;
  var c0_0 = vec2f();
  var c0_1 = vec2f();
  var s0_m1 = vec2f();
  var s0_0 = vec2f();
  var s0_1 = vec2f();
  for (var x = first - 2; x < last; x++) {
    c0_1 = now[cell + SLICE];
    tiles[0][half + row + 1][column + 1] = c0_1;
    if (row < 1) {
      tiles[0][half + row][column + 1] = now[cell + SLICE - PITCH];
      tiles[0][half + row + 5][column + 1] = now[cell + SLICE + 4 * PITCH];
    }
    if (column < 1) {
      tiles[0][half + row + 1][column] = now[cell + SLICE - 1];
      tiles[0][half + row + 1][column + 17] = now[cell + SLICE + 16];
    }
    if (row < 1 && column < 1) {
      tiles[0][half + row][column] = now[cell + SLICE - PITCH - 1];
      tiles[0][half + row][column + 17] = now[cell + SLICE - PITCH + 16];
      tiles[0][half + row + 5][column] = now[cell + SLICE + 4 * PITCH - 1];
      tiles[0][half + row + 5][column + 17] = now[cell + SLICE + 4 * PITCH + 16];
    }
    workgroupBarrier();
    let r0_0 = tiles[0][half + row][column];
    let r0_1 = tiles[0][half + row][column + 1];
    let r0_2 = tiles[0][half + row][column + 2];
    let r0_3 = tiles[0][half + row + 1][column];
    let r0_4 = tiles[0][half + row + 1][column + 2];
    let r0_5 = tiles[0][half + row + 2][column];
    let r0_6 = tiles[0][half + row + 2][column + 1];
    let r0_7 = tiles[0][half + row + 2][column + 2];
    s0_1 = vec2f(r0_0.y, r0_1.x) + r0_1 + vec2f(r0_1.y, r0_2.x) + (vec2f(r0_3.y, c0_1.x) + c0_1 + vec2f(c0_1.y, r0_4.x)) + (vec2f(r0_5.y, r0_6.x) + r0_6 + vec2f(r0_6.y, r0_7.x));
    let e0_0 = s0_m1 + s0_0 + s0_1;
    let e0_1 = c0_0;
    if (mine && x >= first) {
      let new0 = step(W0 + W1 * e0_1, e0_0) * step(e0_0, W0 + W2 * e0_1);
      before[cell] = new0;
    }
    c0_0 = c0_1;
    s0_m1 = s0_0;
    s0_0 = s0_1;
    cell += SLICE;
    half = ROWS - half;
  }
}
