/** What a row says that another machine would say as well: its ratio to the floor of the same run, and how far apart the windows lie. */
import { median, times } from './figures.mjs';

/** Half of what lies between the lowest and the highest, as a share of the median. */
const spreadOf = (values) => (Math.max(...values) - Math.min(...values)) / 2 / Math.abs(median(values));

/**
 * `product` and `floor` are figures of windows that took turns; `better` is 'lower' or 'higher'.
 * The fields are what the table shows (ratio) and what the guard compares (ratioValue, spread, better).
 */
export const against = (product, floor, better) => {
  const ratioValue = median(product) / median(floor);
  return { ratio: times(ratioValue), ratioValue, spread: spreadOf(product.map((value, index) => value / floor[index])), better };
};

/** The same by the median of the ratios of windows that stood next to each other: for small differences, on a machine whose other load comes and goes. */
export const besides = (product, floor, better) => {
  const ratioValue = median(product.map((value, index) => value / floor[index]));
  return { ...against(product, floor, better), ratio: times(ratioValue), ratioValue };
};

/** A whole row of which the ratio decides. `compare` is one of the two above, `limit` is the target; without one there is none, and the row is met. */
export const ratioRow = ({ what, product, floor, show, better, limit, target, method, compare = against }) => {
  const ratio = compare(product, floor, better);
  const words = limit === undefined ? '' : `${better === 'lower' ? '≤' : '≥'} ${limit} ×`;
  const met = limit === undefined || (better === 'lower' ? ratio.ratioValue <= limit : ratio.ratioValue >= limit);
  return { what, value: show(median(product)), floor: show(median(floor)), ...ratio, target: target ?? words, met, method };
};
