// heat conduction in a rod: start phase of the swept rule, 2 points a thread in registers.
const NODE = 64; const PITCH = 96;
const THREADS = 32; const POINTS = 2; const ROWS = 1; // of half a lozenge
const LEVELS = 16; const FLAT = THREADS - LEVELS;
const W0 = 0.44999998807907104f;
const W1 = 0.10000002384185791f;
@group(0) @binding(0) var<storage, read_write> now: array<f32>;
@group(0) @binding(1) var<storage, read_write> before: array<f32>;
const ORIGIN = 8;
struct Phase { odd: i32, readAt: i32, writeAt: i32, lastRow: i32, fromNow: i32, second: i32, nodes: i32, points: i32, plane: i32 }
@group(0) @binding(2) var<uniform> phase: Phase;
@group(0) @binding(3) var<storage, read_write> stored: array<f32>;

fn onLine(z: i32) -> i32 { return select(z, z + phase.points, z < 0); }
// the edges between levels, in two halves by turns, and the store
var<workgroup> pool: array<array<f32, 3 * THREADS>, 2>;

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
  let t = i32(thread);
  // an array of edges holds value 0 of all threads' edges, then value 1, …
  let columns = nodes * THREADS; let edges = 2 * columns;
  var own0 = 0.0f;
  var own1 = 0.0f;
  // the level that starts from the line's own row: the widest, in phase -1 the last
  let m0 = select(LEVELS - 1, 2 * LEVELS - 1, phase.odd == 1);
  if (t >= m0 - LEVELS + 1) {
    let m = m0;
    let across = select((m & 1) * THREADS + t, 2 * THREADS + m - LEVELS + 1, t == THREADS - 1);
    let to = select(across, 2 * THREADS + t, m == 2 * LEVELS - 1);
    let leftmost = begin + t * POINTS + (LEVELS - 1 - m) * (POINTS / 2);
    let isFirst = leftmost == 0; let isSplit = leftmost == -(POINTS / 2);
    let isLast = leftmost == -POINTS || leftmost == phase.points - POINTS;
    let last = phase.lastRow - m * ROWS;
    let low = ORIGIN + onLine(leftmost); let high = ORIGIN + onLine(leftmost + POINTS / 2) - POINTS / 2;
    var base0 = 0.0f;
    var base1 = 0.0f;
    if (phase.fromNow == 1) {
      base0 = now[low];
      base1 = now[high + 1];
    } else {
      base0 = before[low];
      base1 = before[high + 1];
    }
    own0 = base0;
    pool[0][to] = base0;
    own1 = base1;
    pool[1][to] = base1;
  }
  workgroupBarrier();
  for (var m = m0 + 1; m < 32 && m * ROWS < phase.lastRow; m++) {
    if (t <= m + FLAT && m < t + LEVELS) {
      let across = select((m & 1) * THREADS + t, 2 * THREADS + m - LEVELS + 1, t == THREADS - 1);
      let to = select(across, 2 * THREADS + t, m == 2 * LEVELS - 1);
      let leftmost = begin + t * POINTS + (LEVELS - 1 - m) * (POINTS / 2);
      let isFirst = leftmost == 0; let isSplit = leftmost == -(POINTS / 2);
      let isLast = leftmost == -POINTS || leftmost == phase.points - POINTS;
      let last = phase.lastRow - m * ROWS;
      let low = ORIGIN + onLine(leftmost); let high = ORIGIN + onLine(leftmost + POINTS / 2) - POINTS / 2;
      let neighbour = select(((m - 1) & 1) * THREADS + t - 1, 2 * THREADS + LEVELS + t - 1, m == 0);
      let source = select(neighbour, 2 * THREADS + m, t == 0);
      let in0 = pool[0][source];
      let in1 = pool[1][source];
      if (last >= 1) {
        let v1_0 = W0 * (select(in0, own0, isFirst) + select(own0, in0, isSplit)) + W1 * in1;
        let v1_1 = W0 * (select(in1, own1, isSplit) + select(own1, in1, isLast)) + W1 * own0;
        if (last < 2) {
          before[low] = v1_0;
          before[high + 1] = v1_1;
        }
        own0 = v1_0;
        pool[0][to] = v1_0;
        own1 = v1_1;
        pool[1][to] = v1_1;
      }
    }
    workgroupBarrier();
  }
  let left = phase.writeAt + node * THREADS + t; let right = left + edges;
  stored[left] = own0;
  stored[left + columns] = own1;
  stored[right] = pool[0][2 * THREADS + t];
  stored[right + columns] = pool[1][2 * THREADS + t];
}
