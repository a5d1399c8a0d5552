# %% [markdown]
# # How deep is the layer?
#
# A seismic experiment from the shot to the answer. Facet sends a wave into a model of the ground and records it along a line;
# from the recording alone, the depth of the layer and the velocity above it are found again.
#
# Run it from any folder: `python3 shot.py`, or cell by cell in an editor that knows `# %%`. It needs NumPy, and Deno or Node.js.

# %%
import shutil
import subprocess
from pathlib import Path

import numpy as np

facet = Path(__file__).resolve().parent.parent
deno = ["deno"] if shutil.which("deno") else ["npx", "-y", "deno"]


def shot(*options):
    """Runs Facet's command `shot` here."""
    subprocess.run([*deno, "run", "-A", facet / "tuner/cli/main.ts", "shot", "--quiet", *options], check=True)


# %% [markdown]
# ## The ground
#
# Cells of 10 m, x and then the depth z: soft ground of 1,800 m/s, and from 450 m down rock of 2,600 m/s. The second model has no
# rock: what the recordings differ in is what the rock reflects.

# %%
spacing, nx, nz = 10, 160, 90
z = (np.arange(nz) + 0.5) * spacing
depth, velocity = 450, 1800
soft = np.full((nx, nz), velocity, "f4")
ground = np.where(z > depth, 2600, soft).astype("f4")
np.save("soft.npy", soft)
np.save("ground.npy", ground)

# %% [markdown]
# ## The shot
#
# 41 receivers on a line, buried so deep that the absorbing edges leave its waves alone; the source is where the line begins. Small
# time steps and order 8 keep the wavelet in shape. `gather.png` shows the recording, `gather-wave-1.png` and so on how the wave
# spreads.

# %%
first, last, level = 205, 1405, 105
line = ["--source", f"{first},{level}", "--receivers", f"line:{first},{level}:{last},{level}:41"]
fine = ["--order", "8", "--time-step", "1ms", "--sample", "2ms", "--edges", "30"]
setup = [*line, *fine, "--spacing", f"{spacing}m", "--frequency", "15Hz", "--time", "1s"]
shot(*setup, "--velocity", "ground.npy", "--traces", "ground-traces.npy", "--out", "gather.png", "--snapshots", "3")
shot(*setup, "--velocity", "soft.npy", "--traces", "soft-traces.npy", "--out", "soft.png")

# %% [markdown]
# ## The direct wave
#
# It runs along the line, so its time is a straight line over the offset. That it is largest some time after it begins, the line's
# time at the source says: echoes are as late.

# %%
direct = np.load("soft-traces.npy")
echo = np.load("ground-traces.npy") - direct
offset = np.linspace(0, last - first, len(echo))
t = np.arange(echo.shape[1]) * 0.002


def arrivals(traces):
    """When each trace is largest, between samples: the top of a parabola through three of them."""
    size = np.abs(traces)
    i = size.argmax(axis=1).clip(1, len(t) - 2)
    before, top, after = (size[np.arange(len(i)), i + k] for k in (-1, 0, 1))
    return t[i] + 0.002 * (before - after) / (before - 2 * top + after) / 2


far = offset > 300  # wavelengths away, the wave has its shape
slowness, late = np.polyfit(offset[far], arrivals(direct[far]), 1)

# %% [markdown]
# ## The echo
#
# The way down and up is the hypotenuse of the offset and twice the depth: t² = (2d/v)² + x²/v². A straight line through t² over x²
# gives both, within a percent.

# %%
near = offset < 400  # farther off, the rock reflects all of it, and changes its shape
slope, square = np.polyfit(offset[near] ** 2, (arrivals(echo[near]) - late) ** 2, 1)
found = 1 / np.sqrt(slope)
print(f"velocity {1 / slowness:.0f} m/s by the direct wave and {found:.0f} m/s by the echo, in the model {velocity} m/s")
print(f"depth {found * np.sqrt(square) / 2 + level:.0f} m, in the model {depth} m")
