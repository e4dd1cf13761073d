/** The little arithmetic of measuring: medians, percentiles, and numbers as people read them. */

export const median = (values) => percentile(values, 50);

/** Nearest rank; 0 when there is nothing. */
export const percentile = (values, rank) => {
  if (values.length === 0) return 0;
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil((rank / 100) * sorted.length) - 1)];
};

/** The line through points [x, y] that misses them least, by squares. */
export const linearFit = (points) => {
  const meanX = points.reduce((sum, [x]) => sum + x, 0) / points.length;
  const meanY = points.reduce((sum, [, y]) => sum + y, 0) / points.length;
  const slope = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0) / points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  return { intercept: meanY - slope * meanX, slope };
};

/** The two-sided quantile of Student's t at 95 %, to a hundredth for 3 and more degrees of freedom. */
const tQuantile = (freedom) => 1.96 + 2.37 / freedom + 2.82 / freedom ** 2 + 2.5 / freedom ** 3;

/** The slope of that line and half of its interval of 95 %. */
export const slopeWithInterval = (points) => {
  const { intercept, slope } = linearFit(points);
  const freedom = points.length - 2;
  if (freedom < 1) return { slope, margin: Number.POSITIVE_INFINITY };
  const meanX = points.reduce((sum, [x]) => sum + x, 0) / points.length;
  const missed = points.reduce((sum, [x, y]) => sum + (y - intercept - slope * x) ** 2, 0);
  const spread = points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  return { slope, margin: tQuantile(freedom) * Math.sqrt(missed / freedom / spread) };
};

export const round = (value, digits = 2) => Number(value.toFixed(digits));
export const perSecond = (value) => `${Math.round(value).toLocaleString('en')}/s`;
export const milliseconds = (value) => `${value < 20 ? round(value, 1) : Math.round(value)} ms`;
export const microseconds = (ms) => `${round(ms * 1_000, 1)} µs`;
export const megabytes = (bytes) => `${round(bytes / 1_048_576, 1)} MB`;
export const times = (value) => `${round(value)} ×`;
