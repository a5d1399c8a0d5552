# %% [markdown]
# # The sound of a drum
#
# A rectangular membrane is struck beside its middle. Facet computes how it moves, and a microphone over one point hears it ring.
# The membrane is clamped at its edges, so it can ring at known frequencies only; the recording must show the same ones.
#
# Run it from any folder: `python3 membrane.py`, or cell by cell in an editor that knows `# %%`. It needs NumPy, and Deno or
# Node.js.

# %%
import shutil
import subprocess
from pathlib import Path

import numpy as np

facet = Path(__file__).resolve().parent.parent
deno = ["deno"] if shutil.which("deno") else ["npx", "-y", "deno"]


def solve(*options):
    """Runs Facet's command `solve` here."""
    subprocess.run([*deno, "run", "-A", facet / "tuner/cli/main.ts", "solve", "--quiet", *options], check=True)


# %% [markdown]
# ## The strike
#
# A bump of a few cells' width, off the middle, so that it moves as many modes as possible. `x` and `y` go from 0 to 1.

# %%
nx, ny, steps = 95, 63, 6000
x = (np.arange(nx) + 0.5) / nx
y = (np.arange(ny) + 0.5) / ny
strike = np.exp(-150 * ((x[:, None] - 0.36) ** 2 + (y[None, :] - 0.41) ** 2))
np.save("strike.npy", strike)

# %% [markdown]
# ## The run
#
# `wave` is Facet's wave equation; `zero` clamps the membrane. The Courant number, how far a wave comes in a step, is 0.6 cells. The
# receiver is a place in cells. Pictures are drawn at the beginning and every 40 steps of the first run.

# %%
courant = 0.6
drum = ["--stencil", "wave", "--set", f"courant={courant}", "--boundary", "zero", "--initial", "F=strike.npy"]
solve(*drum, "--steps", "120", "--every", "40", "--picture", "drum.png")

Path("microphone.csv").write_text("x,y\n20,14\n")
solve(*drum, "--steps", f"{steps}", "--receivers", "microphone.csv", "--traces", "sound.npy")

# %% [markdown]
# ## What it should sound like
#
# A clamped membrane of the sides a and b rings at f = c/2 · √((m/a)² + (n/b)²), m and n half waves along its sides. Cells are the
# unit of length and steps that of time, so c is the Courant number, and the edges are one cell beyond the outermost ones.

# %%
modes = sorted(
    (courant / 2 * np.hypot(m / (nx + 1), n / (ny + 1)), m, n) for m in range(1, 5) for n in range(1, 5)
)

# %% [markdown]
# ## What it sounds like
#
# The peaks of the recording's spectrum, lowest first.

# %%
(sound,) = np.load("sound.npy")
padded = 8 * len(sound)  # finer steps of frequency
spectrum = np.abs(np.fft.rfft(sound * np.hanning(len(sound)), padded))
frequency = np.fft.rfftfreq(padded)
peaks = np.flatnonzero((spectrum[1:-1] > spectrum[:-2]) & (spectrum[1:-1] > spectrum[2:])) + 1
peaks = peaks[spectrum[peaks] > 0.02 * spectrum.max()]

print("  m  n   expected      heard  (cycles in 1,000 steps)")
worst = 0
for expected, m, n in modes[:5]:
    heard = frequency[peaks[np.argmin(np.abs(frequency[peaks] - expected))]]
    worst = max(worst, abs(heard / expected - 1))
    print(f"  {m}  {n}  {1000 * expected:9.3f}  {1000 * heard:9.3f}")
print(f"Heard within {worst:.2%} of what a membrane should sound like; the pictures are drum-000.png to drum.png")
