#!/usr/bin/env python3
"""Writes buffers that are known to fit: an arena of time and bytes, cut into pieces.

packings.py SEED > BUFFERS.csv. The offsets of the packing are left out; its height is CAPACITY. The style is the seed modulo 5.
"""

import random
import sys

CAPACITY = 1 << 20
# A piece: first time, time after the last one, lowest byte, byte after the highest one.


def cut_time(piece, at):
    first, last, low, high = piece
    return [(first, at, low, high), (at, last, low, high)]


def cut_bytes(piece, at):
    first, last, low, high = piece
    return [(first, last, low, at), (first, last, at, high)]


def grid(pick, low, high, step):
    """Returns a number between both, a multiple of the step; None if there is none."""
    first, last = low // step + 1, (high - 1) // step
    return step * pick.randint(first, last) if first <= last else None


def spiral(pick, piece, step):
    """Returns five pieces around one of them, which no cut crosses; None if there is no room."""
    first, last, low, high = piece
    times, bytes_ = [grid(pick, first, last, 1) for _ in range(2)], [grid(pick, low, high, step) for _ in range(2)]
    if None in times or None in bytes_ or times[0] == times[1] or bytes_[0] == bytes_[1]:
        return None
    (early, late), (below, above) = sorted(times), sorted(bytes_)
    return [(first, late, low, below), (late, last, low, above), (early, last, above, high), (first, early, below, high),
            (early, late, below, above)]


def cut(pick, count, time, step, spirals=0.0):
    """Cuts the arena."""
    return cut_pieces(pick, count, [(0, time, 0, CAPACITY)], step, spirals)


def cut_pieces(pick, count, pieces, step, spirals=0.0):
    """Cuts through a whole piece, or into five: any one, or a large one first."""
    across, large = pick.uniform(0.35, 0.65), pick.random()
    for _ in range(50 * count):
        if len(pieces) >= count:
            break
        few = [pick.randrange(len(pieces)) for _ in range(3 if pick.random() < large else 1)]
        index = max(few, key=lambda i: (pieces[i][1] - pieces[i][0]) * (pieces[i][3] - pieces[i][2]))
        first, last, low, high = pieces[index]
        five = spiral(pick, pieces[index], step) if pick.random() < spirals else None
        if five:
            pieces[index:index + 1] = five
            continue
        isTime = pick.random() < across
        at = grid(pick, first, last, 1) if isTime else grid(pick, low, high, step)
        if at is not None:
            pieces[index:index + 1] = (cut_time if isTime else cut_bytes)(pieces[index], at)
    return pieces


def skyline(pick, count, time, step):
    """Laid from the bottom up, always into the lowest valley, level with a neighbour now and then; no cut goes through."""
    width, height = pick.uniform(0.5, 1.5) * time / count ** 0.5, pick.uniform(0.7, 1.4) * CAPACITY / count ** 0.5
    spread, level = pick.uniform(0.1, 1.2), pick.uniform(0.1, 0.7)
    tops, pieces = [(0, time, 0)], []  # first, last, top
    while True:
        index = min(range(len(tops)), key=lambda i: tops[i][2])
        first, last, low = tops[index]
        if low == CAPACITY:
            return pieces
        wide = max(1, round(width * pick.lognormvariate(0, spread)))
        last = last if first + 1.5 * wide > last else first + wide
        around = [tops[i][2] for i in (index - 1, index + 1) if 0 <= i < len(tops)]
        high = low + step * max(1, round(height * pick.lognormvariate(0, spread) / step))
        if around and pick.random() < level:
            high = pick.choice(around)
        if CAPACITY - high < 0.3 * height:
            high = CAPACITY
        pieces.append((first, last, low, high))
        tops[index:index + 1] = [(first, last, high)] + ([(last, tops[index][1], low)] if last < tops[index][1] else [])
        merged = []
        for one in tops:
            if merged and merged[-1][2] == one[2]:
                one = (merged.pop()[0], one[1], one[2])
            merged.append(one)
        tops = merged


def step_of_training(pick, count, time, step):
    """Returns nested values that wait for the backward pass; the space beside them is cut further."""
    waiting = max(4, round(count * pick.uniform(0.1, 0.4)))
    first, last, low, pieces = 0, time, 0, []
    for i in range(waiting):
        high = low + step * max(1, round(pick.uniform(0.2, 1.8) * 0.7 * CAPACITY / waiting / step))
        pieces.append((first, last, low, high))
        left, right = (pick.randrange(1, max(2, time // waiting)) for _ in range(2))
        if first + left >= last - right or high >= CAPACITY:
            break
        pieces += [(first, first + left, high, CAPACITY), (last - right, last, high, CAPACITY)]
        first, last, low = first + left, last - right, high
    pieces.append((first, last, high, CAPACITY))
    kept = [piece for piece in pieces if piece[2] < piece[3]]
    saved = [piece for piece in kept if piece[3] < CAPACITY]
    return saved + cut_pieces(pick, max(4, count - len(saved)), [piece for piece in kept if piece[3] == CAPACITY], step)


def drop(pick, pieces, share):
    """Returns the pieces without some, and with some shorter lifetimes."""
    left = []
    for first, last, low, high in pieces:
        luck = pick.random()
        if luck < share / 2:
            continue
        if luck < share and last - first > 3:
            first, last = first + pick.randrange(0, (last - first) // 3), last - pick.randrange(0, (last - first) // 3)
        left.append((first, last, low, high))
    return left


def stairs(pick, count, time, step):
    """Returns short lifetimes of about one length, which begin one after the other: rows that are cut at different
    times."""
    rows, tops, pieces = max(6, round(count ** 0.5 * pick.uniform(0.6, 1.1))), [0], []
    while len(tops) <= rows and tops[-1] < CAPACITY:
        tops.append(tops[-1] + step * max(1, round(pick.uniform(0.7, 1.3) * CAPACITY / rows / step)))
    tops = [top for top in tops if top < CAPACITY] + [CAPACITY]
    wide = max(2, round(time * (len(tops) - 1) / count))
    for low, high in zip(tops, tops[1:]):
        first = 0
        while first < time:
            last = first + max(1, round(wide * (pick.uniform(0.7, 1.3) if first else pick.random())))
            last = time if time - last < wide / 2 else last
            pieces.append((first, last, low, high))
            first = last
    return pieces


STYLES = ["cuts through a whole piece", "cuts into five around one", "bricks", "a training step", "stairs"]


def build(seed):
    """Returns 200 to 500 pieces, in one of several styles, with few or many times and sizes, and with no holes or
    few."""
    pick, style = random.Random(seed), seed % len(STYLES)
    count, time = pick.randint(200, 500), pick.choice([128, 1024, 1024, 5000])
    step, share = pick.choice([1, 1024, 1024, CAPACITY // 64]), pick.choice([0, 0, 0.01, 0.03])
    make = [cut, lambda *given: cut(*given, spirals=pick.uniform(0.3, 0.6)), skyline, step_of_training, stairs][style]
    pieces = []
    while not 200 <= len(pieces) <= 500:
        pieces = drop(pick, make(pick, count, time, step), share)
    pick.shuffle(pieces)
    return pieces


def check(pieces):
    for i, (first, last, low, high) in enumerate(pieces):
        assert first < last and 0 <= low < high <= CAPACITY
        assert all(last <= f or l <= first or high <= w or h <= low for f, l, w, h in pieces[:i])


def as_csv(pieces):
    rows = (f"{i},{first},{last},{high - low}\n" for i, (first, last, low, high) in enumerate(pieces))
    return "id,lower,upper,size\n" + "".join(rows)


if __name__ == "__main__":
    sys.stdout.write(as_csv(build(int(sys.argv[1]))))
