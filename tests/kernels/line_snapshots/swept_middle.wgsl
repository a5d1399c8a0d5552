// heat conduction in a rod: middle phase of the swept rule, 2 points a thread.
const NODE = 64; const PITCH = 64; const FLAT = 0;
const REACH = 1; const PAD = 1; const EDGE = 2; const ROWS = 32;
const W0 = 0.44999998807907104f;
const W1 = 0.10000002384185791f;
@group(0) @binding(0) var<storage, read_write> now: array<f32>;
@group(0) @binding(1) var<storage, read_write> before: array<f32>;
const ORIGIN = 8;
struct Phase { odd: i32, readAt: i32, writeAt: i32, lastRow: i32, fromNow: i32, second: i32, nodes: i32, points: i32, plane: i32 }
@group(0) @binding(2) var<uniform> phase: Phase;
@group(0) @binding(3) var<storage, read_write> stored: array<f32>;

fn onLine(z: i32) -> i32 { return select(z, z + phase.points, z < 0); }
var<workgroup> row: array<array<f32, NODE + 2 * PAD>, 2>;

fn near(here: i32, offset: i32, node: i32) -> i32 {
  let c = here - PAD; let to = c + offset;
  var found = to;
  let crosses = (c < NODE / 2) != (to < NODE / 2);
  if (phase.odd == 1 && node == 0 && crosses) {
    found = select(NODE - 2 - to, NODE - to, c >= NODE / 2);
  }
  if (phase.odd == 0 && node == 0 && to < 0) { found = -to; }
  if (phase.odd == 0 && node == phase.nodes - 1 && to >= NODE) { found = 2 * (NODE - 1) - to; }
  return PAD + found;
}
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
  let here0 = i32(thread) + 1;
  let left1_0 = near(here0, -1, node);
  let right1_0 = near(here0, 1, node);
  let here1 = i32(thread) + 33;
  let left1_1 = near(here1, -1, node);
  let right1_1 = near(here1, 1, node);
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
  for (var first = 1; first <= 2 * ROWS; first += 2) {
    { // row 0 of the turn
      let s = first;
      let half = FLAT / 2 + REACH * min(s, 2 * ROWS - s);
      let low = PAD + NODE / 2 - half; let high = PAD + NODE / 2 + half;
      if (here0 >= low && here0 < high) {
        let made = W0 * (row[0][left1_0] + row[0][right1_0]) + W1 * row[0][here0];
        row[1][here0] = made;
      }
      if (here1 >= low && here1 < high) {
        let made = W0 * (row[0][left1_1] + row[0][right1_1]) + W1 * row[0][here1];
        row[1][here1] = made;
      }
      workgroupBarrier();
    }
    { // row 1 of the turn
      let s = first + 1;
      let half = FLAT / 2 + REACH * min(s, 2 * ROWS - s);
      let low = PAD + NODE / 2 - half; let high = PAD + NODE / 2 + half;
      if (here0 >= low && here0 < high) {
        let made = W0 * (row[1][left1_0] + row[1][right1_0]) + W1 * row[1][here0];
        row[0][here0] = made;
      }
      if (here1 >= low && here1 < high) {
        let made = W0 * (row[1][left1_1] + row[1][right1_1]) + W1 * row[1][here1];
        row[0][here1] = made;
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
