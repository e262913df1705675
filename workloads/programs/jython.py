import random, re, sys
scale, seed = int(sys.argv[1]), int(sys.argv[2])
rng = random.Random(seed)

class Node(object):
    __slots__ = ("key", "left", "right")
    def __init__(self, key):
        self.key, self.left, self.right = key, None, None

def insert(node, key):
    if node is None:
        return Node(key)
    if key < node.key:
        node.left = insert(node.left, key)
    else:
        node.right = insert(node.right, key)
    return node

def walk(node):
    if node is not None:
        for key in walk(node.left):
            yield key
        yield node.key
        for key in walk(node.right):
            yield key

def queens(n, row=0, columns=0, left=0, right=0):
    if row == n:
        return 1
    count, free = 0, ~(columns | left | right) & ((1 << n) - 1)
    while free:
        bit = free & -free
        free ^= bit
        count += queens(n, row + 1, columns | bit, (left | bit) << 1, (right | bit) >> 1)
    return count

for round in range(3 * scale):
    keys = [rng.randrange(10 ** 9) for _ in range(6000)]
    root = None
    for key in keys:
        root = insert(root, key)
    assert list(walk(root)) == sorted(keys)
    assert queens(8) == 92
    text = " ".join("%x" % key for key in keys)
    words = {}
    for word in re.findall(r"[a-f]+[0-9]", text):
        words.setdefault(len(word), []).append(word)
    failures = 0
    for key in keys:
        try:
            {}[key]
        except KeyError:
            failures += 1
    assert failures == len(keys)
    print("%d %d %s" % (round, len(words), max(map(len, words.values()))))
