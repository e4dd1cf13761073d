/** What a chart is given. */
export type ChartTone = 'accent' | 'good' | 'bad' | 'warn' | 'muted';

export interface ChartSeries {
  readonly label: string;
  /** One for each start; null where nothing is known. */
  readonly values: ReadonlyArray<number | null>;
  readonly tone: ChartTone;
  /** Those of kind stack stand on each other, the last one at the bottom. */
  readonly kind: 'bars' | 'line' | 'stack';
  /** What the legend says while no interval is pointed at. */
  readonly total: string;
}

export interface ChartProps {
  readonly label: string;
  /** ISO times at which the intervals begin, the oldest first. */
  readonly starts: readonly string[];
  readonly intervalSeconds: number;
  readonly series: readonly ChartSeries[];
  readonly format: (value: number) => string;
}
