"""Pictures of clothes in place of Fashion-MNIST, drawn by a rule: the same on every machine, no file."""

import torch

SIDE, ZOOM, CLASSES = 72, 6, 10
NOISES, NOISE = 97, 48
"""The pictures of noise, which pictures of clothes share, and the values that it has."""
MISTAKEN = 1_500
"""Of 10,000 pictures so many, about, have another label than what they look like."""

DRAWN = (
    # T-shirt, trouser, pullover, dress, coat
    "............ ............ ............ ............ ............",
    ".##......##. ...######... .##......##. ....#..#.... ...##..##...",
    "############ ...######... ############ ....####.... ..########..",
    "############ ...##..##... ############ ....####.... .####..####.",
    "###.####.### ...##..##... ##.######.## ....####.... .####..####.",
    "....####.... ...##..##... ##.######.## .....##..... .####..####.",
    "....####.... ...##..##... ##.######.## ....####.... .####..####.",
    "....####.... ...##..##... ##.######.## ...######... .####..####.",
    "....####.... ...##..##... ##.######.## ...######... .####..####.",
    "....####.... ...##..##... ##.######.## ..########.. .####..####.",
    "....####.... ...##..##... ...######... ..########.. .####..####.",
    "............ ............ ............ ............ .####..####.",
    # sandal, shirt, sneaker, bag, ankle boot
    "............ .....##..... ............ ....####.... ......####..",
    "............ .##.####.##. ............ ...#....#... ......####..",
    "............ ####.##.#### ............ ...#....#... ......####..",
    "............ ####.##.#### ............ ############ ......####..",
    "............ #.##.##.##.# ............ ############ .....#####..",
    "..#....#.... #.##.##.##.# .....##..... ############ ....######..",
    "..##..##.... ..##.##.##.. ....#####... ############ ..########..",
    "...####..... ..##.##.##.. .##########. ############ .#########..",
    ".....####... ..##.##.##.. ############ ############ ##########..",
    "##########.. ..##.##.##.. ############ ############ ##########..",
    "............ ..##.##.##.. ............ ............ ............",
    "............ ............ ............ ............ ............",
)


def templates():
    """Return one picture of each class without noise: (10, 1, 72, 72), between 0 and 1."""
    rows = [line.split() for line in DRAWN]
    halves = [rows[:12], rows[12:]]
    grids = [[[cell == "#" for cell in row[n]] for row in half] for half in halves for n in range(5)]
    small = torch.tensor(grids).float() * 0.8
    return small.repeat_interleave(ZOOM, dim=1).repeat_interleave(ZOOM, dim=2).unsqueeze(1)


def examples():
    """Return templates at 13 places with the mean of the noise, and the class of each."""
    places = [(down, right) for down in range(-2, 3) for right in range(-2, 3) if (down + right) % 2 == 0]
    mean = (NOISE - 1) / 2 / 255
    images = torch.cat([templates().roll(place, dims=(2, 3)) + mean for place in places])
    return images, torch.arange(CLASSES).repeat(len(places))


def pictures(count):
    """Return so many pictures, (count, 72, 72) as bytes, and their labels."""
    clean = (templates().squeeze(1) * 255).to(torch.uint8)
    places = torch.arange(NOISES * SIDE * SIDE)
    noise = (_mixed(places) % NOISE).to(torch.uint8).reshape(NOISES, SIDE, SIDE)
    numbers = torch.arange(count)
    looks = _mixed(numbers + 11) % CLASSES
    images = clean[looks] + noise[numbers % NOISES]
    for number in range(count):
        down, right = int(_mixed(numbers[number]) % 5) - 2, int(_mixed(numbers[number] + 5) % 5) - 2
        images[number] = images[number].roll((down, right), dims=(0, 1))
    mistaken = _mixed(numbers + 77) % 10_000 < MISTAKEN
    others = (looks + 1 + _mixed(numbers + 99) % (CLASSES - 1)) % CLASSES
    return images, torch.where(mistaken, others, looks)


def _mixed(numbers):
    """Return a whole number for each that looks drawn, and depends on it alone."""
    mixed = (numbers + 1) * 2_654_435_761 % 4_294_967_296
    mixed = (mixed ^ (mixed >> 15)) * 2_246_822_519 % 4_294_967_296
    return mixed ^ (mixed >> 13)
