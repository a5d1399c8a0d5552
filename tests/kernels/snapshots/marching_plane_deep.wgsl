// acoustic wave equation, order 4: 2 steps; each workgroup marches along x over 10 slices.
const NX = 40; const NY = 1; const NZ = 250;
const ORIGIN = 134; const SLICE = 66; const PITCH = 66; // in elements of 4 cells
const SLICES = 10;
const W0 = 0.4812500476837158f;
const W1 = 0.4050000011920929f;
const W2 = -0.02531251311302185f;
@group(0) @binding(0) var<storage, read_write> now: array<vec4f>;
@group(0) @binding(1) var<storage, read_write> before: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> newer: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> older: array<vec4f>;
var<workgroup> low0: array<vec4f, 32>;
var<workgroup> high0: array<vec4f, 32>;

@compute @workgroup_size(16)
fn main(@builtin(local_invocation_id) l: vec3u, @builtin(workgroup_id) w: vec3u) {
  let column = i32(l.x);
  let element0 = i32(w.x) * 14 - 1;
  let z0 = 4 * element0;
  let element = element0 + column;
  let z = 4 * element;
  let first = i32(w.z) * SLICES;
  let last = min(first + SLICES, NX);
  let inside = vec4<bool>(u32(z) < u32(NZ), u32(z + 1) < u32(NZ), u32(z + 2) < u32(NZ), u32(z + 3) < u32(NZ));
  let mine = u32(z) < u32(NZ) && column >= 1 && column < 15;
  // what is exchanged lies in two places by turns: one barrier is enough
  let both = 2 * column + 16;
  var here = column;
  var cell = ORIGIN + (first - 4) * SLICE + element;
  var c0_0 = now[cell];
  var c0_1 = now[cell + SLICE];
  var c0_2 = now[cell + 2 * SLICE];
  var c0_3 = now[cell + 3 * SLICE];
  var c0_4 = now[cell + 4 * SLICE];
  var c0_5 = now[cell + 5 * SLICE];
  var c1_2 = before[cell + 2 * SLICE];
  var c1_3 = before[cell + 3 * SLICE];
  var c2_m2 = vec4f();
  var c2_m1 = vec4f();
  var c2_0 = vec4f();
  var c2_1 = vec4f();
  if (z0 >= 0 && z0 + 64 <= NZ && first - 4 >= 0 && last + 6 <= NX) {
  for (var x = first - 4; x < last; x += 5) {
    let c0_6 = now[cell + 6 * SLICE];
    let c1_4 = before[cell + 4 * SLICE];
    low0[here] = vec4f(c0_2.x, c0_2.y, c2_0.x, c2_0.y);
    high0[here] = vec4f(c0_2.z, c0_2.w, c2_0.z, c2_0.w);
    workgroupBarrier();
    let high0_0 = high0[here - 1];
    let low0_0 = low0[here + 1];
    here = both - here;
    let c2_2 = W0 * c0_2 - c1_2 + W1 * (vec4f(high0_0.y, c0_2.x, c0_2.y, c0_2.z) + vec4f(c0_2.y, c0_2.z, c0_2.w, low0_0.x) + (c0_1 + c0_3)) + W2 * (vec4f(high0_0.x, high0_0.y, c0_2.x, c0_2.y) + vec4f(c0_2.z, c0_2.w, low0_0.x, low0_0.y) + (c0_0 + c0_4));
    let new0_0 = W0 * c2_0 - c0_0 + W1 * (vec4f(high0_0.w, c2_0.x, c2_0.y, c2_0.z) + vec4f(c2_0.y, c2_0.z, c2_0.w, low0_0.z) + (c2_m1 + c2_1)) + W2 * (vec4f(high0_0.z, high0_0.w, c2_0.x, c2_0.y) + vec4f(c2_0.z, c2_0.w, low0_0.z, low0_0.w) + (c2_m2 + c2_2));
    if (mine && x >= first) {
      older[cell] = c2_0;
      newer[cell] = new0_0;
    }
    let c0_7 = now[cell + 7 * SLICE];
    let c1_5 = before[cell + 5 * SLICE];
    low0[here] = vec4f(c0_3.x, c0_3.y, c2_1.x, c2_1.y);
    high0[here] = vec4f(c0_3.z, c0_3.w, c2_1.z, c2_1.w);
    workgroupBarrier();
    let high0_1 = high0[here - 1];
    let low0_1 = low0[here + 1];
    here = both - here;
    let c2_3 = W0 * c0_3 - c1_3 + W1 * (vec4f(high0_1.y, c0_3.x, c0_3.y, c0_3.z) + vec4f(c0_3.y, c0_3.z, c0_3.w, low0_1.x) + (c0_2 + c0_4)) + W2 * (vec4f(high0_1.x, high0_1.y, c0_3.x, c0_3.y) + vec4f(c0_3.z, c0_3.w, low0_1.x, low0_1.y) + (c0_1 + c0_5));
    let new1_0 = W0 * c2_1 - c0_1 + W1 * (vec4f(high0_1.w, c2_1.x, c2_1.y, c2_1.z) + vec4f(c2_1.y, c2_1.z, c2_1.w, low0_1.z) + (c2_0 + c2_2)) + W2 * (vec4f(high0_1.z, high0_1.w, c2_1.x, c2_1.y) + vec4f(c2_1.z, c2_1.w, low0_1.z, low0_1.w) + (c2_m1 + c2_3));
    if (mine && x + 1 >= first && x + 1 < last) {
      older[cell + SLICE] = c2_1;
      newer[cell + SLICE] = new1_0;
    }
    let c0_8 = now[cell + 8 * SLICE];
    let c1_6 = before[cell + 6 * SLICE];
    low0[here] = vec4f(c0_4.x, c0_4.y, c2_2.x, c2_2.y);
    high0[here] = vec4f(c0_4.z, c0_4.w, c2_2.z, c2_2.w);
    workgroupBarrier();
    let high0_2 = high0[here - 1];
    let low0_2 = low0[here + 1];
    here = both - here;
    let c2_4 = W0 * c0_4 - c1_4 + W1 * (vec4f(high0_2.y, c0_4.x, c0_4.y, c0_4.z) + vec4f(c0_4.y, c0_4.z, c0_4.w, low0_2.x) + (c0_3 + c0_5)) + W2 * (vec4f(high0_2.x, high0_2.y, c0_4.x, c0_4.y) + vec4f(c0_4.z, c0_4.w, low0_2.x, low0_2.y) + (c0_2 + c0_6));
    let new2_0 = W0 * c2_2 - c0_2 + W1 * (vec4f(high0_2.w, c2_2.x, c2_2.y, c2_2.z) + vec4f(c2_2.y, c2_2.z, c2_2.w, low0_2.z) + (c2_1 + c2_3)) + W2 * (vec4f(high0_2.z, high0_2.w, c2_2.x, c2_2.y) + vec4f(c2_2.z, c2_2.w, low0_2.z, low0_2.w) + (c2_0 + c2_4));
    if (mine && x + 2 >= first && x + 2 < last) {
      older[cell + 2 * SLICE] = c2_2;
      newer[cell + 2 * SLICE] = new2_0;
    }
    let c0_9 = now[cell + 9 * SLICE];
    let c1_7 = before[cell + 7 * SLICE];
    low0[here] = vec4f(c0_5.x, c0_5.y, c2_3.x, c2_3.y);
    high0[here] = vec4f(c0_5.z, c0_5.w, c2_3.z, c2_3.w);
    workgroupBarrier();
    let high0_3 = high0[here - 1];
    let low0_3 = low0[here + 1];
    here = both - here;
    let c2_5 = W0 * c0_5 - c1_5 + W1 * (vec4f(high0_3.y, c0_5.x, c0_5.y, c0_5.z) + vec4f(c0_5.y, c0_5.z, c0_5.w, low0_3.x) + (c0_4 + c0_6)) + W2 * (vec4f(high0_3.x, high0_3.y, c0_5.x, c0_5.y) + vec4f(c0_5.z, c0_5.w, low0_3.x, low0_3.y) + (c0_3 + c0_7));
    let new3_0 = W0 * c2_3 - c0_3 + W1 * (vec4f(high0_3.w, c2_3.x, c2_3.y, c2_3.z) + vec4f(c2_3.y, c2_3.z, c2_3.w, low0_3.z) + (c2_2 + c2_4)) + W2 * (vec4f(high0_3.z, high0_3.w, c2_3.x, c2_3.y) + vec4f(c2_3.z, c2_3.w, low0_3.z, low0_3.w) + (c2_1 + c2_5));
    if (mine && x + 3 >= first && x + 3 < last) {
      older[cell + 3 * SLICE] = c2_3;
      newer[cell + 3 * SLICE] = new3_0;
    }
    let c0_10 = now[cell + 10 * SLICE];
    let c1_8 = before[cell + 8 * SLICE];
    low0[here] = vec4f(c0_6.x, c0_6.y, c2_4.x, c2_4.y);
    high0[here] = vec4f(c0_6.z, c0_6.w, c2_4.z, c2_4.w);
    workgroupBarrier();
    let high0_4 = high0[here - 1];
    let low0_4 = low0[here + 1];
    here = both - here;
    let c2_6 = W0 * c0_6 - c1_6 + W1 * (vec4f(high0_4.y, c0_6.x, c0_6.y, c0_6.z) + vec4f(c0_6.y, c0_6.z, c0_6.w, low0_4.x) + (c0_5 + c0_7)) + W2 * (vec4f(high0_4.x, high0_4.y, c0_6.x, c0_6.y) + vec4f(c0_6.z, c0_6.w, low0_4.x, low0_4.y) + (c0_4 + c0_8));
    let new4_0 = W0 * c2_4 - c0_4 + W1 * (vec4f(high0_4.w, c2_4.x, c2_4.y, c2_4.z) + vec4f(c2_4.y, c2_4.z, c2_4.w, low0_4.z) + (c2_3 + c2_5)) + W2 * (vec4f(high0_4.z, high0_4.w, c2_4.x, c2_4.y) + vec4f(c2_4.z, c2_4.w, low0_4.z, low0_4.w) + (c2_2 + c2_6));
    if (mine && x + 4 >= first && x + 4 < last) {
      older[cell + 4 * SLICE] = c2_4;
      newer[cell + 4 * SLICE] = new4_0;
    }
    c0_0 = c0_5;
    c0_1 = c0_6;
    c0_2 = c0_7;
    c0_3 = c0_8;
    c0_4 = c0_9;
    c0_5 = c0_10;
    c1_2 = c1_7;
    c1_3 = c1_8;
    c2_m2 = c2_3;
    c2_m1 = c2_4;
    c2_0 = c2_5;
    c2_1 = c2_6;
    cell += 5 * SLICE;
  }
  } else {
  for (var x = first - 4; x < last; x += 5) {
    let c0_6 = now[cell + 6 * SLICE];
    let c1_4 = before[cell + 4 * SLICE];
    low0[here] = vec4f(c0_2.x, c0_2.y, c2_0.x, c2_0.y);
    high0[here] = vec4f(c0_2.z, c0_2.w, c2_0.z, c2_0.w);
    workgroupBarrier();
    let high0_0 = high0[here - 1];
    let low0_0 = low0[here + 1];
    here = both - here;
    let c2_2 = select(vec4f(), select(vec4f(), W0 * c0_2 - c1_2 + W1 * (vec4f(high0_0.y, c0_2.x, c0_2.y, c0_2.z) + vec4f(c0_2.y, c0_2.z, c0_2.w, low0_0.x) + (c0_1 + c0_3)) + W2 * (vec4f(high0_0.x, high0_0.y, c0_2.x, c0_2.y) + vec4f(c0_2.z, c0_2.w, low0_0.x, low0_0.y) + (c0_0 + c0_4)), inside), u32(x + 2) < u32(NX));
    let new0_0 = select(vec4f(), W0 * c2_0 - c0_0 + W1 * (vec4f(high0_0.w, c2_0.x, c2_0.y, c2_0.z) + vec4f(c2_0.y, c2_0.z, c2_0.w, low0_0.z) + (c2_m1 + c2_1)) + W2 * (vec4f(high0_0.z, high0_0.w, c2_0.x, c2_0.y) + vec4f(c2_0.z, c2_0.w, low0_0.z, low0_0.w) + (c2_m2 + c2_2)), inside);
    if (mine && x >= first) {
      older[cell] = c2_0;
      newer[cell] = new0_0;
    }
    let c0_7 = now[cell + 7 * SLICE];
    let c1_5 = before[cell + 5 * SLICE];
    low0[here] = vec4f(c0_3.x, c0_3.y, c2_1.x, c2_1.y);
    high0[here] = vec4f(c0_3.z, c0_3.w, c2_1.z, c2_1.w);
    workgroupBarrier();
    let high0_1 = high0[here - 1];
    let low0_1 = low0[here + 1];
    here = both - here;
    let c2_3 = select(vec4f(), select(vec4f(), W0 * c0_3 - c1_3 + W1 * (vec4f(high0_1.y, c0_3.x, c0_3.y, c0_3.z) + vec4f(c0_3.y, c0_3.z, c0_3.w, low0_1.x) + (c0_2 + c0_4)) + W2 * (vec4f(high0_1.x, high0_1.y, c0_3.x, c0_3.y) + vec4f(c0_3.z, c0_3.w, low0_1.x, low0_1.y) + (c0_1 + c0_5)), inside), u32(x + 3) < u32(NX));
    let new1_0 = select(vec4f(), W0 * c2_1 - c0_1 + W1 * (vec4f(high0_1.w, c2_1.x, c2_1.y, c2_1.z) + vec4f(c2_1.y, c2_1.z, c2_1.w, low0_1.z) + (c2_0 + c2_2)) + W2 * (vec4f(high0_1.z, high0_1.w, c2_1.x, c2_1.y) + vec4f(c2_1.z, c2_1.w, low0_1.z, low0_1.w) + (c2_m1 + c2_3)), inside);
    if (mine && x + 1 >= first && x + 1 < last) {
      older[cell + SLICE] = c2_1;
      newer[cell + SLICE] = new1_0;
    }
    let c0_8 = now[cell + 8 * SLICE];
    let c1_6 = before[cell + 6 * SLICE];
    low0[here] = vec4f(c0_4.x, c0_4.y, c2_2.x, c2_2.y);
    high0[here] = vec4f(c0_4.z, c0_4.w, c2_2.z, c2_2.w);
    workgroupBarrier();
    let high0_2 = high0[here - 1];
    let low0_2 = low0[here + 1];
    here = both - here;
    let c2_4 = select(vec4f(), select(vec4f(), W0 * c0_4 - c1_4 + W1 * (vec4f(high0_2.y, c0_4.x, c0_4.y, c0_4.z) + vec4f(c0_4.y, c0_4.z, c0_4.w, low0_2.x) + (c0_3 + c0_5)) + W2 * (vec4f(high0_2.x, high0_2.y, c0_4.x, c0_4.y) + vec4f(c0_4.z, c0_4.w, low0_2.x, low0_2.y) + (c0_2 + c0_6)), inside), u32(x + 4) < u32(NX));
    let new2_0 = select(vec4f(), W0 * c2_2 - c0_2 + W1 * (vec4f(high0_2.w, c2_2.x, c2_2.y, c2_2.z) + vec4f(c2_2.y, c2_2.z, c2_2.w, low0_2.z) + (c2_1 + c2_3)) + W2 * (vec4f(high0_2.z, high0_2.w, c2_2.x, c2_2.y) + vec4f(c2_2.z, c2_2.w, low0_2.z, low0_2.w) + (c2_0 + c2_4)), inside);
    if (mine && x + 2 >= first && x + 2 < last) {
      older[cell + 2 * SLICE] = c2_2;
      newer[cell + 2 * SLICE] = new2_0;
    }
    let c0_9 = now[cell + 9 * SLICE];
    let c1_7 = before[cell + 7 * SLICE];
    low0[here] = vec4f(c0_5.x, c0_5.y, c2_3.x, c2_3.y);
    high0[here] = vec4f(c0_5.z, c0_5.w, c2_3.z, c2_3.w);
    workgroupBarrier();
    let high0_3 = high0[here - 1];
    let low0_3 = low0[here + 1];
    here = both - here;
    let c2_5 = select(vec4f(), select(vec4f(), W0 * c0_5 - c1_5 + W1 * (vec4f(high0_3.y, c0_5.x, c0_5.y, c0_5.z) + vec4f(c0_5.y, c0_5.z, c0_5.w, low0_3.x) + (c0_4 + c0_6)) + W2 * (vec4f(high0_3.x, high0_3.y, c0_5.x, c0_5.y) + vec4f(c0_5.z, c0_5.w, low0_3.x, low0_3.y) + (c0_3 + c0_7)), inside), u32(x + 5) < u32(NX));
    let new3_0 = select(vec4f(), W0 * c2_3 - c0_3 + W1 * (vec4f(high0_3.w, c2_3.x, c2_3.y, c2_3.z) + vec4f(c2_3.y, c2_3.z, c2_3.w, low0_3.z) + (c2_2 + c2_4)) + W2 * (vec4f(high0_3.z, high0_3.w, c2_3.x, c2_3.y) + vec4f(c2_3.z, c2_3.w, low0_3.z, low0_3.w) + (c2_1 + c2_5)), inside);
    if (mine && x + 3 >= first && x + 3 < last) {
      older[cell + 3 * SLICE] = c2_3;
      newer[cell + 3 * SLICE] = new3_0;
    }
    let c0_10 = now[cell + 10 * SLICE];
    let c1_8 = before[cell + 8 * SLICE];
    low0[here] = vec4f(c0_6.x, c0_6.y, c2_4.x, c2_4.y);
    high0[here] = vec4f(c0_6.z, c0_6.w, c2_4.z, c2_4.w);
    workgroupBarrier();
    let high0_4 = high0[here - 1];
    let low0_4 = low0[here + 1];
    here = both - here;
    let c2_6 = select(vec4f(), select(vec4f(), W0 * c0_6 - c1_6 + W1 * (vec4f(high0_4.y, c0_6.x, c0_6.y, c0_6.z) + vec4f(c0_6.y, c0_6.z, c0_6.w, low0_4.x) + (c0_5 + c0_7)) + W2 * (vec4f(high0_4.x, high0_4.y, c0_6.x, c0_6.y) + vec4f(c0_6.z, c0_6.w, low0_4.x, low0_4.y) + (c0_4 + c0_8)), inside), u32(x + 6) < u32(NX));
    let new4_0 = select(vec4f(), W0 * c2_4 - c0_4 + W1 * (vec4f(high0_4.w, c2_4.x, c2_4.y, c2_4.z) + vec4f(c2_4.y, c2_4.z, c2_4.w, low0_4.z) + (c2_3 + c2_5)) + W2 * (vec4f(high0_4.z, high0_4.w, c2_4.x, c2_4.y) + vec4f(c2_4.z, c2_4.w, low0_4.z, low0_4.w) + (c2_2 + c2_6)), inside);
    if (mine && x + 4 >= first && x + 4 < last) {
      older[cell + 4 * SLICE] = c2_4;
      newer[cell + 4 * SLICE] = new4_0;
    }
    c0_0 = c0_5;
    c0_1 = c0_6;
    c0_2 = c0_7;
    c0_3 = c0_8;
    c0_4 = c0_9;
    c0_5 = c0_10;
    c1_2 = c1_7;
    c1_3 = c1_8;
    c2_m2 = c2_3;
    c2_m1 = c2_4;
    c2_0 = c2_5;
    c2_1 = c2_6;
    cell += 5 * SLICE;
  }
  }
}
