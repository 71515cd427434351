"""A tree of samples, and its picture: what called what, and how much of the time it took."""
import html

WIDTH = 1200
ROW = 18
TOP = 34
CHARACTER = 6.3         # of the font below, on average
LEAST_SHARE = 0.004     # of all: what is less is not drawn
DEEPEST = 24
LIBRARY = "#c9ced6"
ROOT = "#e7e9ed"
# One hue for each thread, light enough for black text.
HUES = ("#8ecae6", "#f6bd60", "#95d5b2", "#e5989b", "#cdb4db", "#f2e8a0", "#a8dadc", "#d4a373")
LIBRARIES = ("system", "allocator", "TBB", "SQLite", "OpenSSL", "Boost.JSON", "nghttp2", "fmt")
# What every stack of a command goes through says nothing.
IN_BETWEEN = ("run_cli", "parse_and_run", "Workers::run", "execute")


class Node:
    """A function, a library or a thread; `count`: samples in it or in what it called."""

    def __init__(self, name):
        self.name = name
        self.count = 0
        self.callees = {}

    def down(self, name):
        node = self.callees.setdefault(name, Node(name))
        node.count += 1
        return node

    def by_weight(self):
        return sorted(self.callees.values(), key=lambda node: (-node.count, node.name))


def tree_of(samples):
    """samples: pairs of a thread's name and a stack, the first caller first."""
    root = Node("all threads")
    for thread, stack in samples:
        root.count += 1
        node = root.down(thread)
        for name in [each for each in stack if each not in IN_BETWEEN][:DEEPEST]:
            node = node.down(name)
    return root


def drawn(node, total):
    return [each for each in node.by_weight() if each.count >= LEAST_SHARE * total]


def depth(node, total):
    return 1 + max((depth(each, total) for each in drawn(node, total)), default=0)


def box(node, x, row, width, color, total):
    share = 100 * node.count / total
    label = f"{node.name} {share:.0f} %" if share >= 0.95 else node.name
    fits = int((width - 6) / CHARACTER)
    if len(label) > fits:
        label = node.name if len(node.name) <= fits else node.name[: max(0, fits - 1)] + "…"
    if fits < 3:
        label = ""
    y = TOP + row * ROW
    name = html.escape(f"{node.name}: {share:.1f} %")
    out = (f'<g><title>{name}</title><rect x="{x:.1f}" y="{y}" width="{max(width - 0.6, 0.4):.1f}"'
           f' height="{ROW - 1}" fill="{color}"/>')
    if label:
        out += f'<text x="{x + 3:.1f}" y="{y + 13}">{html.escape(label)}</text>'
    return out + "</g>\n"


def boxes(node, x, row, color, total):
    """Of a node and of all below it."""
    out = box(node, x, row, WIDTH * node.count / total,
              LIBRARY if node.name in LIBRARIES else color, total)
    for number, each in enumerate(drawn(node, total)):
        hue = HUES[number % len(HUES)] if row == 0 else color
        out += boxes(each, x, row + 1, hue, total)
        x += WIDTH * each.count / total
    return out


def svg(root, title, seconds):
    height = TOP + ROW * depth(root, root.count) + 8
    heading = html.escape(f"{title}: {seconds:.1f} s of processor time")
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
            f'font-family="Helvetica, Arial, sans-serif" font-size="11.5">\n'
            f"<title>{heading}</title>\n"
            f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>\n'
            f'<text x="3" y="21" font-size="15" font-weight="bold">{heading}</text>\n'
            + boxes(root, 0, 0, ROOT, root.count) + "</svg>\n")


def text(root, node=None, indent=0):
    """The same as lines: share and name."""
    node = node or root
    out = f"{100 * node.count / root.count:5.1f} {'  ' * indent}{node.name}\n"
    return out + "".join(text(root, each, indent + 1) for each in drawn(node, root.count))
