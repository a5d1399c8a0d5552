/**
 * Draws the pictures of docs/traversals.md into docs/: orders of visiting, the tiles of torres from above, bands from the
 * side, a torre, and in two and three dimensions what threads and FArSh hold.
 *
 *     deno run --allow-write=docs bench/draw_traversals.ts && deno fmt docs
 *
 * @module
 */

type Point = readonly [x: number, y: number];

const STYLE = `text { font: 13px system-ui, sans-serif; fill: #222; text-anchor: middle; }
  .left { text-anchor: start; }
  .title { font-weight: 600; text-anchor: start; }
  .cell { stroke: #fff; stroke-width: 0.6; }
  .edge, .arrow { fill: none; stroke: #222; stroke-width: 1.6; }
  .dashed { fill: none; stroke: #c2410c; stroke-width: 2.4; stroke-dasharray: 5 3; }
  .tier { fill: none; stroke: #fff; stroke-width: 1; }
  .loaded { fill: #c2410c; }
  .p0 { fill: #7fb2e5; } .p1 { fill: #f2b880; } .p2 { fill: #93cfa2; } .p3 { fill: #c3a6e8; } .p4 { fill: #e8d27a; }
  .none { fill: #d7dce1; }
  @media (prefers-color-scheme: dark) {
    text { fill: #ddd; }
    .cell, .tier { stroke: #111; }
    .edge, .arrow { stroke: #ddd; }
    .dashed { stroke: #fb923c; }
    .loaded { fill: #fb923c; }
    .p0 { fill: #2f6ea8; } .p1 { fill: #a8662a; } .p2 { fill: #3b7f4e; } .p3 { fill: #6b4fa0; } .p4 { fill: #8c7720; }
    .none { fill: #454c54; }
  }`;

function svg([width, height]: Point, label: string, body: readonly string[]): string {
  const size = `viewBox="0 0 ${width} ${height}" width="${width}" height="${height}"`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img" aria-label="${label}">`,
    `  <style>`,
    `  ${STYLE}`,
    `  </style>`,
    ...body.map((line) => `  ${line}`),
    `</svg>`,
    ``,
  ].join("\n");
}

const short = (value: number): string => `${Math.round(value * 10) / 10}`;

function text(words: string | number, [x, y]: Point, name = ""): string {
  return `<text x="${short(x)}" y="${short(y)}"${name && ` class="${name}"`}>${words}</text>`;
}

function polygon(name: string, points: readonly Point[]): string {
  return `<polygon class="${name}" points="${points.map((point) => point.map(short).join(",")).join(" ")}"/>`;
}

function arrow([x0, y0]: Point, [x1, y1]: Point): string {
  const angle = Math.atan2(y1 - y0, x1 - x0);
  const tip = (turn: number): string =>
    `${short(x1 - 7 * Math.cos(angle + turn))} ${short(y1 - 7 * Math.sin(angle + turn))}`;
  const head = `M${tip(0.45)} L${short(x1)} ${short(y1)} L${tip(-0.45)}`;
  return `<path class="arrow" d="M${short(x0)} ${short(y0)} L${short(x1)} ${short(y1)} ${head}"/>`;
}

/** What a cell belongs to: work without a pause between, and its colour. */
interface Piece {
  readonly group: string;
  readonly colour: number | "none";
}

/** Cells in colours, with an edge between those that belong together and others; row 0 is below. */
class Cells {
  constructor(
    readonly origin: Point,
    readonly size: number,
    readonly count: Point,
    readonly pieceAt: (x: number, y: number) => Piece | undefined,
  ) {}

  /** The corner of a cell at the lower left. */
  corner(x: number, y: number): Point {
    return [this.origin[0] + x * this.size, this.origin[1] - y * this.size];
  }

  draw(): string[] {
    const fills: string[] = [], edges: string[] = [], [nx, ny] = this.count;
    for (let x = 0; x < nx; x++) {
      for (let y = 0; y < ny; y++) {
        const piece = this.pieceAt(x, y);
        if (piece === undefined) continue;
        const [left, top] = this.corner(x, y + 1),
          name = piece.colour === "none" ? "none" : `p${piece.colour}`;
        const place = `x="${short(left)}" y="${short(top)}" width="${this.size}" height="${this.size}"`;
        fills.push(`<rect class="cell ${name}" ${place}/>`);
        edges.push(...this.#edges(x, y, (i, j) => this.#groupAt(i, j) === piece.group));
      }
    }
    return [...fills, `<path class="edge" d="${edges.join("")}"/>`];
  }

  /** The edge around some cells. */
  outline(name: string, isIn: (x: number, y: number) => boolean): string {
    const [nx, ny] = this.count, edges: string[] = [];
    for (let x = 0; x < nx; x++) {
      for (let y = 0; y < ny; y++) if (isIn(x, y)) edges.push(...this.#edges(x, y, isIn));
    }
    return `<path class="${name}" d="${edges.join("")}"/>`;
  }

  #groupAt(x: number, y: number): string | undefined {
    return x < 0 || y < 0 || x >= this.count[0] || y >= this.count[1] ? undefined : this.pieceAt(x, y)?.group;
  }

  #edges(x: number, y: number, isIn: (x: number, y: number) => boolean): string[] {
    const side = (dx: number, dy: number, from: Point, to: Point): string =>
      isIn(x + dx, y + dy) ? "" : `M${from.map(short).join(" ")}L${to.map(short).join(" ")}`;
    const [low, right, top, both] = [[0, 0], [1, 0], [0, 1], [1, 1]].map(([i, j]) =>
      this.corner(x + i!, y + j!)
    );
    return [
      side(-1, 0, low!, top!),
      side(1, 0, right!, both!),
      side(0, -1, low!, right!),
      side(0, 1, top!, both!),
    ];
  }
}

/** Four orders, from the side: a cell is a cell of the grid at a time step. */
function orders(): string {
  const [nx, nt, size] = [16, 6, 18] as const;
  const panels: readonly (readonly [
    title: string,
    axis: string,
    pieceAt: Cells["pieceAt"],
    labels: readonly (readonly [
      number,
      number,
      number,
    ])[],
  ])[] = [
    [
      "stepwise: a pass for each step",
      "x",
      (_, t) => ({ group: `${t}`, colour: t % 5 }),
      Array.from({ length: nt }, (_, t) => [8, t + 0.5, t + 1]),
    ],
    [
      "marching, depth 2: a pass for two steps",
      "x",
      (_, t) => ({ group: `${t >> 1}`, colour: (t >> 1) % 5 }),
      [0, 1, 2].map((i) => [8, 2 * i + 1, i + 1]),
    ],
    [
      "torres: a pass for six steps",
      "x",
      (x, t) => {
        const torre = Math.floor((x - t + 8) / 4) - 1;
        return { group: `${torre}`, colour: (((4 - torre) % 5) + 5) % 5 };
      },
      [[14.6, 1, 1], [12.5, 3, 2], [8.5, 3, 3], [4.5, 3, 4], [1.4, 4, 5]],
    ],
    [
      "the CPU's diamonds: rounds of tiles",
      "y",
      (y, t) => {
        const [a, b] = [Math.floor((y + t + 1) / 8), Math.floor((y - t + 7) / 8)];
        return { group: `${a},${b}`, colour: (a - b + 1) % 5 };
      },
      [[4, 1, 1], [12, 1, 1], [1, 3, 2], [8, 3, 2], [15, 3, 2], [4, 5, 3], [12, 5, 3]],
    ],
  ];
  const body = panels.flatMap(([title, axis, pieceAt, labels], i) => {
    const origin: Point = [40 + (i % 2) * 350, 150 + Math.floor(i / 2) * 190];
    const cells = new Cells(origin, size, [nx, nt], pieceAt);
    return [
      text(title, [origin[0], origin[1] - nt * size - 10], "title"),
      ...cells.draw(),
      ...labels.filter(([x]) => x >= 0 && x <= nx).map(([x, t, label]) => {
        const [left, top] = cells.corner(x, t);
        return text(label, [left, top + 5]);
      }),
      arrow([origin[0], origin[1] + 10], [origin[0] + 60, origin[1] + 10]),
      text(axis, [origin[0] + 70, origin[1] + 14]),
      arrow([origin[0] - 10, origin[1]], [origin[0] - 10, origin[1] - 60]),
      text("t", [origin[0] - 20, origin[1] - 55]),
    ];
  });
  return svg([710, 370], "Four orders in which the cells of space and time are visited", body);
}

/** Tiles of 8 cells, W = 4, from above; the next tier of one of them, and what it loads. */
function tiles(): string {
  const width = 4, slope = 1, size = 22, count: Point = [20, 14];
  /** Of the tile [0, W)² in u and v, whose first cell is here. */
  const [firstX, firstY] = [8, 5] as const;
  const local = (x: number, y: number): Point => [x - firstX + (y - firstY), x - firstX - (y - firstY)];
  const stageOf = (i: number, j: number): number => 4 - i - j;
  const cells = new Cells([50, 340], size, count, (x, y) => {
    const [u, v] = local(x, y), i = Math.floor(u / width), j = Math.floor(v / width);
    return { group: `${i},${j}`, colour: (stageOf(i, j) + 10) % 5 };
  });
  // the next tier lies S further along u and v; it needs S more cells all around, and holds what the last one left
  const inNext = (x: number, y: number, low: number, high: number): boolean =>
    local(x, y).every((one) => one - slope >= low && one - slope < high);
  const isLoaded = (x: number, y: number): boolean =>
    inNext(x, y, -slope, width + slope) && !inNext(x, y, -slope, width - slope);
  const body = [...cells.draw()];
  for (let i = -4; i < 5; i++) {
    for (let j = -4; j < 5; j++) {
      const [u, v] = [width * (i + 0.5), width * (j + 0.5)], stage = stageOf(i, j);
      const [x, y] = [firstX + (u + v) / 2, firstY + (u - v) / 2];
      const isInside = x > 0.7 && x < count[0] - 0.7 && y > 0.2 && y < count[1] - 1;
      const isOwn = i === 0 && j === 0, at = cells.corner(x, y + 0.5);
      if (isInside && stage >= 0) body.push(text(stage, [at[0] - (isOwn ? 11 : 0), at[1] + 5]));
    }
  }
  for (let x = 0; x < count[0]; x++) {
    for (let y = 0; y < count[1]; y++) {
      const [left, top] = cells.corner(x + 0.5, y + 0.5);
      if (isLoaded(x, y)) body.push(`<circle class="loaded" cx="${short(left)}" cy="${short(top)}" r="4"/>`);
    }
  }
  body.push(
    cells.outline("dashed", (x, y) => inNext(x, y, 0, width)),
    arrow([50, 356], [130, 356]),
    text("x", [142, 360]),
    arrow([36, 340], [36, 260]),
    text("y", [24, 268]),
    text("number: stage", [190, 360], "left"),
    `<path class="dashed" d="M300 356L330 356"/>`,
    text("its next tier", [336, 360], "left"),
    `<circle class="loaded" cx="430" cy="356" r="4"/>`,
    text("what that loads", [440, 360], "left"),
  );
  return svg([560, 376], "Diamond tiles from above, with the stages in which their torres run", body);
}

/** Two bands from the side, in dispatches from right to left. */
function bands(): string {
  const width = 76, height = 84, tiers = 4, lean = 38, lag = 3, count = 7, left = 60, base = 220;
  const body: string[] = [];
  for (const band of [0, 1]) {
    for (let torre = 0; torre < count; torre++) {
      const dispatch = torre + lag * band, x = left + (count - 1 - torre) * width + lean * band;
      const bottom = base - height * band;
      const at = (along: number, up: number): Point => [x + along * width + up * lean, bottom - up * height];
      body.push(polygon(`p${dispatch % 5}`, [at(0, 0), at(1, 0), at(1, 1), at(0, 1)]));
      for (let tier = 1; tier < tiers; tier++) {
        body.push(polygon("tier", [at(0, tier / tiers), at(1, tier / tiers)]));
      }
      body.push(polygon("edge", [at(0, 0), at(1, 0), at(1, 1), at(0, 1)]));
      const [labelX, labelY] = at(0.5, 0.5);
      body.push(text(dispatch, [labelX, labelY + 5]));
    }
  }
  const end = left + count * width;
  body.push(
    arrow([left, base + 14], [left + 80, base + 14]),
    text("x", [left + 92, base + 18]),
    arrow([left - 16, base], [left - 16, base - 80]),
    text("t", [left - 30, base - 72]),
    text("number: the dispatch in which a torre runs", [left + 130, base + 18], "left"),
    text("band 1:", [end + 44, base - 50], "left"),
    text("steps 1 to 4", [end + 44, base - 32], "left"),
    text("band 2:", [end + 82, base - 50 - height], "left"),
    text("steps 5 to 8", [end + 82, base - 32 - height], "left"),
  );
  return svg([770, 248], "Two bands of torres from the side", body);
}

/** A torre in space and time, on the tiles of the first step. */
function torre(): string {
  const project = (x: number, y: number, t: number): Point => [150 + 40 * x + 9 * y, 240 - 21 * y - 40 * t];
  /** The tile around a place, two cells from its middle to each corner. */
  const tile = (x: number, y: number, t: number): Point[] =>
    ([[-2, 0], [0, 2], [2, 0], [0, -2]] as const).map(([dx, dy]) => project(x + dx, y + dy, t));
  const ground = [[0, 4, 2], [0, 0, 2], [2, 2, 1], [4, 4, 0], [2, -2, 1], [4, 0, 0]] as const;
  const body = ground.flatMap(([x, y, stage]) => {
    const [left, top] = project(x + 0.2, y, 0);
    return [polygon("none", tile(x, y, 0)), polygon("edge", tile(x, y, 0)), text(stage, [left, top + 5])];
  });
  for (let tier = 0; tier < 5; tier++) {
    body.push(polygon("p0", tile(tier, 0, tier)), polygon("edge", tile(tier, 0, tier)));
    const [left, top] = project(tier, 0, tier);
    body.push(text(`t + ${tier + 1}`, [left, top + 5]));
  }
  body.push(
    arrow([40, 320], [110, 320]),
    text("x", [122, 324]),
    arrow([40, 320], [56, 283]),
    text("y", [68, 284]),
    arrow([40, 320], [40, 250]),
    text("t", [28, 256]),
    text("blue: a torre of five tiers,", [420, 180], "left"),
    text("each a time step later and further along x", [420, 198], "left"),
    text("grey: tiles from above, with the stages of their torres;", [420, 226], "left"),
    text("0 and 1 ran before, and have left what 2 needs", [420, 244], "left"),
  );
  return svg([780, 336], "A torre of five tiers leans along x", body);
}

/** A tile of two dimensions, W = 8, four times: the order of its cells, what threads hold, and what goes from torre to torre. */
function planeTile(): string {
  const width = 8, size = 20, [centreX, centreY] = [1, 5] as const;
  const local = (x: number, y: number): Point => [x - centreX + y - centreY, x - centreX - y + centreY];
  const isIn = (x: number, y: number): boolean => local(x, y).every((one) => one >= 0 && one < width);
  const isFront = (x: number, y: number): boolean =>
    !isIn(x, y) && local(x, y).every((one) => one >= 0 && one < width + 2);
  const isBack = (x: number, y: number): boolean => isIn(x, y) && local(x, y).some((one) => one < 2);
  const order = ([a, b]: Point): number => {
    const [j2, j1] = [a >> 1, b >> 1];
    return 2 * ((j1 & 1) | (j2 & 1) << 1 | (j1 & 2) << 1 | (j2 & 2) << 2) + (a & 1);
  };
  const panel = (left: number, title: string, colourOf: (place: Point) => number): Cells => {
    const cells = new Cells([left, 250], size, [12, 11], (x, y) => {
      if (isFront(x, y)) return { group: "front", colour: "none" };
      return isIn(x, y)
        ? { group: `${colourOf(local(x, y))}`, colour: colourOf(local(x, y)) % 5 }
        : undefined;
    });
    body.push(text(title, [left + 6, 24], "title"), ...cells.draw());
    return cells;
  };
  const body: string[] = [];
  const tiles = panel(10, "in memory: along the Z curve", (place) => order(place) >> 3);
  const places: Point[] = [];
  for (let x = 0; x < 12; x++) {
    for (let y = 0; y < 11; y++) if (isIn(x, y)) places[order(local(x, y))] = tiles.corner(x + 0.5, y + 0.5);
  }
  body.push(`<path class="edge" d="M${places.map((at) => at.map(short).join(" ")).join("L")}"/>`);
  panel(270, "a thread holds a square", ([a, b]) => (a >> 2) + 2 * (b >> 2));
  panel(530, "or a line along (1, 1)", ([a, b]) => ((b >> 1) - (a >> 1) + 4) % 4);
  const ends = panel(790, "front and back of a tier", () => 0);
  for (let x = 0; x < 12; x++) {
    for (let y = 0; y < 11; y++) {
      const [left, top] = ends.corner(x + 0.5, y + 0.5);
      if (isFront(x, y)) body.push(`<circle class="loaded" cx="${short(left)}" cy="${short(top)}" r="4"/>`);
    }
  }
  body.push(
    ends.outline("dashed", isBack),
    arrow([16, 262], [86, 262]),
    text("x", [98, 266]),
    arrow([16, 262], [16, 202]),
    text("y", [6, 210]),
    text("grey: the front, which other torres have left", [270, 266], "left"),
    `<circle class="loaded" cx="796" cy="262" r="4"/>`,
    text("taken over", [806, 266], "left"),
    `<path class="dashed" d="M890 262L920 262"/>`,
    text("handed on", [926, 266], "left"),
  );
  return svg([1040, 280], "A diamond tile in memory, in threads, and what torres hand on", body);
}

/** FArSh from above: a stage takes over from lanes what the one before has left, and puts its own in the same place. */
function lanes(): string {
  const half = 44, body: string[] = [];
  const centre = (stage: number, k: number): Point => [330 - stage * half, 60 + (2 * k + stage % 2) * half];
  const diamond = ([x, y]: Point): Point[] => [[x - half, y], [x, y - half], [x + half, y], [x, y + half]];
  for (let stage = 0; stage < 6; stage++) {
    for (let k = 0; k < (stage % 2 === 0 ? 3 : 2); k++) {
      const at = centre(stage, k);
      body.push(
        polygon(stage < 3 ? "none" : `p${stage === 3 ? 0 : 1}`, diamond(at)),
        polygon("edge", diamond(at)),
      );
      body.push(text(stage, [at[0], at[1] + 5]));
    }
  }
  for (let k = 0; k < 2; k++) {
    const [x, y] = centre(3, k), q = half / 2;
    body.push(
      arrow([x + q + 10, y - q - 10], [x + q - 8, y - q + 8]),
      arrow([x + q + 10, y + q + 10], [x + q - 8, y + q - 8]),
    );
    body.push(
      arrow([x - q + 8, y - q + 8], [x - q - 10, y - q - 10]),
      arrow([x - q + 8, y + q - 8], [x - q - 10, y + q + 10]),
    );
  }
  body.push(
    text("number: stage", [400, 60], "left"),
    text("blue: the stage that runs", [400, 84], "left"),
    text("grey: they have run, and left their slopes", [400, 108], "left"),
    text("arrows: lanes, in each of which a torre finds,", [400, 142], "left"),
    text("tier by tier, what the one before has left,", [400, 160], "left"),
    text("and puts its own in the same place", [400, 178], "left"),
  );
  return svg([700, 300], "FArSh: what a stage takes over and hands on", body);
}

/** A tile of three dimensions, side 6: its elements in space, what threads hold, and what it takes over and hands on. */
function volumeTile(): string {
  const side = 6,
    size = 15,
    gap = 2.8,
    body: string[] = [text("in space: a cut at one z", [16, 24], "title")];
  const [centreX, centreY] = [2, 6] as const;
  const cells = new Cells([16, 270], size, [16, 14], (x, y) => {
    const [a, b] = [x - centreX - y + centreY, x - centreX + y - centreY];
    const isIn = (length: number): boolean => [a, b].every((one) => one >= 0 && one < 2 * length);
    if (!isIn(side + 1)) return undefined;
    return { group: `${a >> 1} ${b >> 1}`, colour: isIn(side) ? a & 1 : "none" };
  });
  body.push(...cells.draw());
  const project = (
    left: number,
    [a, b, c]: readonly number[],
  ): Point => [left + 17 * a! + 8 * b!, 268 + 2.5 * a! - 7 * b! - 17 * c!];
  /** The three faces of a block that one sees, cut into elements or patches of a size along a, b and c. */
  const block = (
    left: number,
    from: readonly number[],
    to: readonly number[],
    { by = [1, 1, 1], nameOf }: { by?: readonly number[]; nameOf(element: readonly number[]): string },
  ): void => {
    const faces: string[] = [], edges: string[] = [];
    for (const [axis, at] of [[2, to[2]!], [1, from[1]!], [0, to[0]!]] as const) {
      const [u, v] = [0, 1, 2].filter((one) => one !== axis) as [number, number];
      const corner = (p: number, q: number): Point =>
        project(left, [0, 1, 2].map((one) => one === axis ? at : one === u ? p : q));
      const quad = (
        p: number,
        q: number,
        width: number,
        height: number,
      ): Point[] => [
        corner(p, q),
        corner(p + width, q),
        corner(p + width, q + height),
        corner(p, q + height),
      ];
      for (let p = from[u]!; p < to[u]!; p++) {
        for (let q = from[v]!; q < to[v]!; q++) {
          const element = [0, 1, 2].map((one) =>
            one === axis ? (one === 1 ? at : at - 1) : one === u ? p : q
          );
          faces.push(polygon(`cell ${nameOf(element)}`, quad(p, q, 1, 1)));
        }
      }
      for (let p = from[u]!; p < to[u]!; p += by[u]!) {
        for (let q = from[v]!; q < to[v]!; q += by[v]!) {
          edges.push(polygon("edge", quad(p, q, Math.min(by[u]!, to[u]! - p), Math.min(by[v]!, to[v]! - q))));
        }
      }
    }
    body.push(...faces, ...edges);
  };
  const whole = [side, side, side];
  body.push(text("in threads: patches", [290, 24], "title"));
  block(300, [0, 0, 0], whole, {
    by: [2, 3, 3],
    nameOf: ([a, b, c]) => `p${((a! >> 1) + Math.floor(b! / 3) + 2 * Math.floor(c! / 3)) % 5}`,
  });
  body.push(text("front and back of a tier, reach 1", [540, 24], "title"));
  // further away first
  block(540, [0, side + gap, 0], [side, side + 1 + gap, side + 1], { nameOf: () => "p2" });
  block(540, [0, 0, side + gap], [side, side, side + 1 + gap], { nameOf: () => "p4" });
  block(540, [0, 0, 0], whole, { nameOf: (element) => element.some((one) => one < 1) ? "p1" : "p0" });
  block(540, [side + 1, 0, 0], [side + 2, side + 1, side + 1], { nameOf: () => "p3" });
  const origin = project(262, [0, 0, 0]), ends = [[3, 0, 0], [0, 3, 0], [0, 0, 3]] as const;
  body.push(
    ...ends.map((end) => arrow(origin, project(262, end))),
    text("a", [project(262, [3, 0, 0])[0] + 4, origin[1] + 24]),
    text("b", [origin[0] + 34, origin[1] - 20]),
    text("c", [origin[0] - 8, origin[1] - 44]),
    arrow([16, 300], [86, 300]),
    text("x", [98, 304]),
    arrow([16, 300], [16, 240]),
    text("y", [6, 248]),
    text("framed: an element, an even and an odd cell", [120, 304], "left"),
    text("purple, green, yellow: taken over along a, b and c", [480, 304], "left"),
    text("orange: the first elements, handed on", [480, 322], "left"),
  );
  return svg([820, 334], "A tile of three dimensions in space, in threads, and what torres hand on", body);
}

/** Every picture by its file's name in docs/. */
export const PICTURES: Readonly<Record<string, () => string>> = {
  "orders.svg": orders,
  "torre.svg": torre,
  "torre_tiles.svg": tiles,
  "torre_bands.svg": bands,
  "plane_tile.svg": planeTile,
  "plane_lanes.svg": lanes,
  "volume_tile.svg": volumeTile,
};

if (import.meta.main) {
  for (const [name, draw] of Object.entries(PICTURES)) {
    await Deno.writeTextFile(new URL(`../docs/${name}`, import.meta.url), draw());
  }
}
