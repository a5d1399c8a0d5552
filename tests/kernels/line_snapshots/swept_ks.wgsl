// Kuramoto-Sivashinsky equation, 5 points: finish phase of the swept rule, 1 points a thread.
const NODE = 32; const PITCH = 32; const FLAT = 0;
const REACH = 2; const PAD = 2; const EDGE = 4; const ROWS = 8;
const W0 = 0.6700000166893005f;
const W1 = 0.22499999403953552f;
const W2 = -0.0018749999580904841f;
const W3 = -0.06000000238418579f;
const W4 = -0.6600000262260437f;
const W5 = 0.45000001788139343f;
const W6 = -0.0037499999161809683f;
const W7 = -0.12000000476837158f;
@group(0) @binding(0) var<storage, read_write> now: array<f32>;
@group(0) @binding(1) var<storage, read_write> before: array<f32>;
const ORIGIN = 8;
struct Phase { odd: i32, readAt: i32, writeAt: i32, lastRow: i32, fromNow: i32, second: i32, nodes: i32, points: i32, plane: i32 }
@group(0) @binding(2) var<uniform> phase: Phase;
@group(0) @binding(3) var<storage, read_write> stored: array<f32>;

fn onLine(z: i32) -> i32 { return select(z, z + phase.points, z < 0); }
var<workgroup> row: array<array<f32, NODE + 2 * PAD>, 2>;

@compute @workgroup_size(32)
fn main(
  @builtin(local_invocation_index) thread: u32,
  @builtin(workgroup_id) w: vec3u,
  @builtin(num_workgroups) groups: vec3u,
) {
  let nodes = phase.nodes;
  let node = i32(w.x + w.y * groups.x);
  if (node >= nodes) { return; }
  let begin = node * PITCH + (1 - phase.odd) * (PITCH / 2) - NODE / 2;
  // the neighbours' edges: the right ones of the node before, the left ones of the node behind
  let nodeBefore = select(node + nodes - 1, node, phase.odd == 0) % nodes;
  let nodeBehind = select(node, node + 1, phase.odd == 0) % nodes;
  let edges = nodes * ROWS * EDGE;
  let here0 = i32(thread) + 2;
  for (var i = i32(thread); i < ROWS * EDGE; i += 32) {
    let j = i / EDGE; let e = i % EDGE;
    // positions beyond what the widest row reads are of no use
    let leftAt = NODE / 2 - FLAT / 2 - REACH * j - EDGE + e + PAD;
    let rightAt = NODE / 2 + FLAT / 2 + REACH * j + e + PAD;
    if (leftAt >= 0) {
      row[j % 2][leftAt] = stored[phase.readAt + edges + nodeBefore * ROWS * EDGE + i];
    }
    if (rightAt < NODE + 2 * PAD) {
      row[j % 2][rightAt] = stored[phase.readAt + nodeBehind * ROWS * EDGE + i];
    }
  }
  workgroupBarrier();
  for (var first = 1; first <= min(2 * ROWS, phase.lastRow); first += 2) {
    { // row 0 of the turn
      let s = first;
      let half = select(0, FLAT / 2 + REACH * min(s, 2 * ROWS - s), s <= phase.lastRow);
      let low = PAD + NODE / 2 - half; let high = PAD + NODE / 2 + half;
      if (here0 >= low && here0 < high) {
        let e0 = row[0][here0 + 1];
        let e1 = row[0][here0 - 1];
        let made = W0 * row[0][here0] + (e0 + e1) * (W1 + W2 * (e0 - e1)) + W3 * (row[0][here0 + 2] + row[0][here0 - 2]);
        row[1][here0] = made;
        if (s > phase.lastRow - 2) { before[ORIGIN + phase.plane + onLine(begin + here0 - PAD)] = made; }
      }
      workgroupBarrier();
    }
    { // row 1 of the turn
      let s = first + 1;
      let half = select(0, FLAT / 2 + REACH * min(s, 2 * ROWS - s), s <= phase.lastRow);
      let low = PAD + NODE / 2 - half; let high = PAD + NODE / 2 + half;
      if (here0 >= low && here0 < high) {
        let e0 = row[1][here0 + 1];
        let e1 = row[1][here0 - 1];
        let made = row[0][here0] + (W4 * row[1][here0] + (e0 + e1) * (W5 + W6 * (e0 - e1)) + W7 * (row[1][here0 + 2] + row[1][here0 - 2]));
        row[0][here0] = made;
        if (s > phase.lastRow - 2) { before[ORIGIN + onLine(begin + here0 - PAD)] = made; }
      }
      workgroupBarrier();
    }
  }
  for (var i = i32(thread); i < ROWS * EDGE; i += 32) {
    let j = i / EDGE; let e = i % EDGE;
    let place = (ROWS + j) % 2;
    stored[phase.writeAt + node * ROWS * EDGE + i] = row[place][REACH * j + e + PAD];
    stored[phase.writeAt + edges + node * ROWS * EDGE + i] =
      row[place][NODE - REACH * j - EDGE + e + PAD];
  }
}
