/** Numbers over time. The code that draws is loaded with the first chart; the page starts without it. */
import { useEffect, useState } from 'preact/hooks';
import { Failure, Loading } from './states.js';

export type ChartTone = 'accent' | 'good' | 'bad' | 'warn' | 'muted';

export interface ChartSeries {
  readonly label: string;
  /** One for each start; null where nothing is known. */
  readonly values: ReadonlyArray<number | null>;
  readonly tone: ChartTone;
  readonly kind: 'bars' | 'line';
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

/** Built beside the kit; a name in a variable keeps it out of the kit's own file. */
const CHARTS = '/ui/charts.js';
type Charts = typeof import('../charts/index.js');

export const Chart = (props: ChartProps) => {
  const [charts, setCharts] = useState<Charts>();
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    (import(CHARTS) as Promise<Charts>).then(setCharts, setError);
  }, []);
  if (error !== undefined) return <Failure error={error} />;
  return charts ? <charts.DrawnChart {...props} /> : <Loading lines={4} label={props.label} />;
};
