#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Renders the picture that the denoising example works on, so that no one else owns it.

usage: render.py OUT_DIR      (needs Debian's python3-numpy and python3-png)

Writes still_life.png (the clean picture) and still_life_noisy.png (the same with Gaussian noise of standard deviation 25 of 255,
seeded), three textured spheres on a chequered table under a soft light.
"""
import os
import sys

import numpy as np
import png

WIDTH, HEIGHT, SAMPLES = 480, 320, 4
SIGMA = 25.0
LIGHT = np.array([-0.55, 0.75, -0.36])
SPHERES = [  # centre, radius, colour, gloss
    ((-1.15, 0.0, 3.6), 1.0, (0.86, 0.31, 0.22), 0.25),
    ((0.75, -0.35, 2.7), 0.65, (0.93, 0.74, 0.27), 0.15),
    ((1.65, 0.25, 4.6), 1.25, (0.24, 0.50, 0.60), 0.45),
]
FLOOR = -1.0


def normalise(v):
    return v / np.linalg.norm(v, axis=-1, keepdims=True)


def hit(origin, direction):
    """Distance to, index of (3 = floor, -1 = sky) and normal at the nearest surface along each ray."""
    best = np.full(direction.shape[:-1], np.inf)
    what = np.full(best.shape, -1)
    normal = np.zeros(direction.shape)
    for i, (centre, radius, _, _) in enumerate(SPHERES):
        o = origin - np.array(centre)
        b = np.sum(o * direction, -1)
        disc = b * b - np.sum(o * o, -1) + radius * radius
        t = -b - np.sqrt(np.maximum(disc, 0))
        ok = (disc > 0) & (t > 1e-4) & (t < best)
        best, what = np.where(ok, t, best), np.where(ok, i, what)
        normal = np.where(ok[..., None], normalise(o + t[..., None] * direction), normal)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = (FLOOR - origin[..., 1]) / direction[..., 1]
    ok = (t > 1e-4) & (t < best)
    best, what = np.where(ok, t, best), np.where(ok, 3, what)
    normal = np.where(ok[..., None], np.array([0.0, 1.0, 0.0]), normal)
    return best, what, normal


def surface(point, what):
    colour = np.zeros(point.shape)
    gloss = np.zeros(what.shape)
    for i, (centre, radius, base, shine) in enumerate(SPHERES):
        p = (point - np.array(centre)) / radius
        stripes = 0.5 + 0.5 * np.sin(9 * p[..., 1] + 3 * np.sin(4 * p[..., 0] + i)) if i != 1 else np.ones(what.shape)
        speckle = 0.92 + 0.08 * np.sin(41 * p[..., 0]) * np.sin(37 * p[..., 1]) * np.sin(43 * p[..., 2])
        c = np.array(base) * (0.72 + 0.28 * (stripes > 0.5))[..., None] * speckle[..., None]
        colour, gloss = np.where((what == i)[..., None], c, colour), np.where(what == i, shine, gloss)
    check = (np.floor(point[..., 0] * 1.5) + np.floor(point[..., 2] * 1.5)) % 2
    grain = 0.95 + 0.05 * np.sin(60 * point[..., 0] + 8 * np.sin(6 * point[..., 2]))
    table = np.where(check[..., None] > 0.5, np.array([0.87, 0.84, 0.78]), np.array([0.33, 0.29, 0.30])) * grain[..., None]
    return np.where((what == 3)[..., None], table, colour), np.where(what == 3, 0.08, gloss)


def shade(origin, direction, depth=1):
    t, what, normal = hit(origin, direction)
    up = np.clip(direction[..., 1], 0, 1)[..., None]
    sky = (1 - up) * np.array([0.86, 0.88, 0.92]) + up * np.array([0.42, 0.57, 0.80])
    point = origin + np.where(np.isfinite(t), t, 0)[..., None] * direction
    colour, gloss = surface(point, what)
    light = normalise(LIGHT)
    _, blocker, _ = hit(point + 1e-3 * normal, np.broadcast_to(light, point.shape))
    diffuse = np.maximum(np.sum(normal * light, -1), 0) * np.where(blocker >= 0, 0.15, 1.0)
    out = colour * (0.28 + 0.12 * normal[..., 1] + 0.72 * diffuse)[..., None]
    half = normalise(light - direction)
    out += (np.where(blocker >= 0, 0, np.maximum(np.sum(normal * half, -1), 0) ** 60) * gloss)[..., None]
    if depth:
        mirror = direction - 2 * np.sum(direction * normal, -1)[..., None] * normal
        out += gloss[..., None] * 0.6 * shade(point + 1e-3 * normal, normalise(mirror), depth - 1)
    return np.where((what >= 0)[..., None], out, sky)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    total = np.zeros((HEIGHT, WIDTH, 3))
    for sy in range(SAMPLES):
        for sx in range(SAMPLES):
            x = (np.arange(WIDTH) + (sx + 0.5) / SAMPLES - WIDTH / 2) / HEIGHT * 1.5
            y = -(np.arange(HEIGHT) + (sy + 0.5) / SAMPLES - HEIGHT / 2) / HEIGHT * 1.5
            d = np.stack(np.broadcast_arrays(x[None, :], y[:, None] - 0.12, 1.45), -1)
            total += np.clip(shade(np.broadcast_to([0.0, 0.35, -1.0], d.shape), normalise(d)), 0, 1) ** (1 / 1.8)
    clean = np.rint(total / SAMPLES**2 * 255)
    noise = np.random.default_rng(7).normal(0, SIGMA, clean.shape)
    for name, picture in (("still_life", clean), ("still_life_noisy", np.clip(np.rint(clean + noise), 0, 255))):
        png.from_array(picture.astype(np.uint8).reshape(HEIGHT, -1), "RGB", {"width": WIDTH, "height": HEIGHT}).save(
            os.path.join(sys.argv[1], name + ".png"))


if __name__ == "__main__":
    main()
