// Which rows of a long list stand before the eye. Pure.

/**
 * @param {number} count  rows of the list
 * @param {number} height of a row, in pixels
 * @param {number} above  pixels of the list above the upper edge of the view (may be negative)
 * @param {number} view   height of the view
 * @returns {{from: number, to: number}} half-open; with `spare` rows on either side
 */
export function visibleRows(count, height, above, view, spare = 8) {
  const first = Math.floor(above / height);
  const last = Math.ceil((above + view) / height);
  const from = Math.min(count, Math.max(0, first - spare));
  const to = Math.max(from, Math.min(count, Math.max(0, last + spare)));
  return { from, to };
}

/** The pages of `size` rows that hold [from, to): their numbers. */
export function pagesOf(from, to, size) {
  const out = [];
  for (let page = Math.floor(from / size); page * size < to; ++page) out.push(page);
  return out;
}
