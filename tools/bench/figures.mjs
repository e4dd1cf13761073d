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

export const round = (value, digits = 2) => Number(value.toFixed(digits));
export const perSecond = (value) => `${Math.round(value).toLocaleString('en')}/s`;
export const milliseconds = (value) => `${value < 20 ? round(value, 1) : Math.round(value)} ms`;
export const microseconds = (ms) => `${round(ms * 1_000, 1)} µs`;
export const megabytes = (bytes) => `${round(bytes / 1_048_576, 1)} MB`;
export const times = (value) => `${round(value)} ×`;
