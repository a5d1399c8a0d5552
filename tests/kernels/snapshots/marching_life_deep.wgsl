// 3D life 5/2-7: one step; each workgroup marches along x over 12 slices.
const NX = 24; const NY = 20; const NZ = 50;
const ORIGIN = 370; const SLICE = 352; const PITCH = 16; // in elements of 4 cells
const SLICES = 12;
const W0 = 5.0f;
const W1 = -2.0f;
const W2 = 3.0f;
@group(0) @binding(0) var<storage, read_write> now: array<vec4f>;
@group(0) @binding(1) var<storage, read_write> before: array<vec4f>;
const ROWS = 8; const COLUMNS = 10;
var<workgroup> tiles: array<array<array<vec4f, COLUMNS>, 16>, 1>;

@compute @workgroup_size(10, 8)
fn main(@builtin(local_invocation_id) l: vec3u, @builtin(workgroup_id) w: vec3u) {
  let column = i32(l.x); let row = i32(l.y);
  let element = i32(w.x) * 8 + column - 1;
  let z = 4 * element;
  let y = i32(w.y) * 6 + row - 1;
  let first = i32(w.z) * SLICES;
  let last = min(first + SLICES, NX);
  let insideY = u32(y) < u32(NY);
  let inside = vec4<bool>(u32(z) < u32(NZ), u32(z + 1) < u32(NZ), u32(z + 2) < u32(NZ), u32(z + 3) < u32(NZ)) & vec4<bool>(insideY);
  let mine = insideY && u32(z) < u32(NZ) && column >= 1 && column < 9 && row >= 1 && row < 7;
  var half = 0; // of the tiles, by turns: one barrier is enough
  var cell = ORIGIN + (first - 5) * SLICE + y * PITCH + element;
  var c0_1 = vec4f();
  var c0_2 = vec4f();
  var c0_3 = vec4f();
  var c1_0 = vec4f();
  var c1_1 = vec4f();
  var s0_0 = vec4f();
  var s0_1 = vec4f();
  var s0_2 = vec4f();
  var s1_m1 = vec4f();
  var s1_0 = vec4f();
  var s1_1 = vec4f();
  for (var x = first - 5; x < last; x++) {
    c0_3 = now[cell + 3 * SLICE];
    let r0_0 = now[cell + 2 * SLICE - PITCH - 1];
    let r0_1 = now[cell + 2 * SLICE - PITCH];
    let r0_2 = now[cell + 2 * SLICE - PITCH + 1];
    let r0_3 = now[cell + 2 * SLICE - 1];
    let r0_4 = now[cell + 2 * SLICE + 1];
    let r0_5 = now[cell + 2 * SLICE + PITCH - 1];
    let r0_6 = now[cell + 2 * SLICE + PITCH];
    let r0_7 = now[cell + 2 * SLICE + PITCH + 1];
    s0_2 = vec4f(r0_0.w, r0_1.x, r0_1.y, r0_1.z) + r0_1 + vec4f(r0_1.y, r0_1.z, r0_1.w, r0_2.x) + (vec4f(r0_3.w, c0_2.x, c0_2.y, c0_2.z) + c0_2 + vec4f(c0_2.y, c0_2.z, c0_2.w, r0_4.x)) + (vec4f(r0_5.w, r0_6.x, r0_6.y, r0_6.z) + r0_6 + vec4f(r0_6.y, r0_6.z, r0_6.w, r0_7.x));
    let e0_0 = s0_0 + s0_1 + s0_2;
    let e0_1 = c0_1;
    c1_1 = select(vec4f(), select(vec4f(), step(W0 + W1 * e0_1, e0_0) * step(e0_0, W0 + W2 * e0_1), inside), u32(x + 1) < u32(NX));
    tiles[0][half + row][column] = c1_1;
    workgroupBarrier();
    let r1_0 = tiles[0][half + row - 1][column - 1];
    let r1_1 = tiles[0][half + row - 1][column];
    let r1_2 = tiles[0][half + row - 1][column + 1];
    let r1_3 = tiles[0][half + row][column - 1];
    let r1_4 = tiles[0][half + row][column + 1];
    let r1_5 = tiles[0][half + row + 1][column - 1];
    let r1_6 = tiles[0][half + row + 1][column];
    let r1_7 = tiles[0][half + row + 1][column + 1];
    s1_1 = vec4f(r1_0.w, r1_1.x, r1_1.y, r1_1.z) + r1_1 + vec4f(r1_1.y, r1_1.z, r1_1.w, r1_2.x) + (vec4f(r1_3.w, c1_1.x, c1_1.y, c1_1.z) + c1_1 + vec4f(c1_1.y, c1_1.z, c1_1.w, r1_4.x)) + (vec4f(r1_5.w, r1_6.x, r1_6.y, r1_6.z) + r1_6 + vec4f(r1_6.y, r1_6.z, r1_6.w, r1_7.x));
    let e1_0 = s1_m1 + s1_0 + s1_1;
    let e1_1 = c1_0;
    if (mine && x >= first) {
      let new0 = select(vec4f(), step(W0 + W1 * e1_1, e1_0) * step(e1_0, W0 + W2 * e1_1), inside);
      before[cell] = new0;
    }
    c0_1 = c0_2;
    c0_2 = c0_3;
    c1_0 = c1_1;
    s0_0 = s0_1;
    s0_1 = s0_2;
    s1_m1 = s1_0;
    s1_0 = s1_1;
    cell += SLICE;
    half = ROWS - half;
  }
}
