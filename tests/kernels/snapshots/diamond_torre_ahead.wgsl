// acoustic wave equation, order 2: a workgroup computes a torre, a thread a cell.
const NX = 24; const NY = 20; const NZ = 50;
const ORIGIN = 10304; const SLICE = 2496; const PITCH = 96;
const DTS = 1; const S = 1; const W = 2;
const SLICE_T = SLICE; const PITCH_T = PITCH; // in elements of a thread
const W0 = 0.37999993562698364f;
const W1 = 0.27000001072883606f;
struct Row { x: i32, y: i32, tiers: i32, unused: i32 } // base of the row's first torre at its first tier
@group(0) @binding(0) var<storage, read_write> now: array<f32>;
@group(0) @binding(1) var<storage, read_write> before: array<f32>;
@group(0) @binding(2) var<uniform> rows: array<Row, 16>;
var<workgroup> exchange: array<array<f32, 52>, 4>;

@compute @workgroup_size(50)
fn main(@builtin(local_invocation_id) l: vec3u, @builtin(workgroup_id) w: vec3u) {
  let thread = i32(l.x);
  let slot = thread + 1;
  let row = rows[w.y];
  let y = row.y + i32(w.x) * W;
  if (y - W / 2 + 1 >= NY) { return; } // this row is shorter than another of the dispatch
  let acrossY = y - W / 2 + 1 < 0 || y + W / 2 > NY;
  var x = row.x;
  var base = ORIGIN + x * SLICE_T + y * PITCH_T + thread;
  var f_m1_m1 = now[base - SLICE_T];
  var f_0_0 = now[base];
  var g_0_0 = before[base];
  var g_1_1 = before[base + SLICE_T];
  var p_m1_1 = now[base - PITCH_T];
  var p_1_m1 = now[base + PITCH_T];
  var p_1_1 = now[base + SLICE_T];
  var p_0_2 = now[base + SLICE_T - PITCH_T];
  var p_2_0 = now[base + SLICE_T + PITCH_T];
  var p_2_2 = now[base + 2 * SLICE_T];
  for (var tier = 0; tier < row.tiers; tier += 1) {
    // tier 0: now → before
    var l0_m1_1: f32;
    var l0_1_m1: f32;
    var l0_1_1: f32;
    var l0_0_2: f32;
    var l0_2_0: f32;
    var l0_2_2: f32;
    let odd = tier % 2 == 1;
    l0_m1_1 = p_m1_1;
    l0_1_m1 = p_1_m1;
    l0_1_1 = p_1_1;
    l0_0_2 = p_0_2;
    l0_2_0 = p_2_0;
    l0_2_2 = p_2_2;
    if (odd) {
      p_m1_1 = now[base + SLICE_T - PITCH_T];
      p_1_m1 = now[base + SLICE_T + PITCH_T];
      p_1_1 = now[base + 2 * SLICE_T];
      p_0_2 = now[base + 2 * SLICE_T - PITCH_T];
      p_2_0 = now[base + 2 * SLICE_T + PITCH_T];
      p_2_2 = now[base + 3 * SLICE_T];
    } else {
      p_m1_1 = before[base + SLICE_T - PITCH_T];
      p_1_m1 = before[base + SLICE_T + PITCH_T];
      p_1_1 = before[base + 2 * SLICE_T];
      p_0_2 = before[base + 2 * SLICE_T - PITCH_T];
      p_2_0 = before[base + 2 * SLICE_T + PITCH_T];
      p_2_2 = before[base + 3 * SLICE_T];
    }
    exchange[0][slot] = f_0_0;
    exchange[1][slot] = l0_1_1;
    workgroupBarrier();
    var n0_0_0 = W0 * f_0_0 - g_0_0 + W1 * (exchange[0][slot - 1] + exchange[0][slot + 1] + (l0_m1_1 + l0_1_m1) + (f_m1_m1 + l0_1_1));
    var n0_1_1 = W0 * l0_1_1 - g_1_1 + W1 * (exchange[1][slot - 1] + exchange[1][slot + 1] + (l0_0_2 + l0_2_0) + (f_0_0 + l0_2_2));
    if (acrossY || x < 0 || x + W > NX) {
      let inX0 = u32(x) < u32(NX);
      let inX1 = u32(x + 1) < u32(NX);
      let inY0 = u32(y) < u32(NY);
      n0_0_0 = select(f32(), n0_0_0, inX0 && inY0);
      n0_1_1 = select(f32(), n0_1_1, inX1 && inY0);
    }
    if (odd) {
      now[base] = n0_0_0;
      now[base + SLICE_T] = n0_1_1;
    } else {
      before[base] = n0_0_0;
      before[base + SLICE_T] = n0_1_1;
    }
    x += S;
    base += S * SLICE_T;
    workgroupBarrier();
    g_0_0 = l0_1_1;
    g_1_1 = l0_2_2;
    f_m1_m1 = n0_0_0;
    f_0_0 = n0_1_1;
  }
}
