/** Numbers over time. The code that draws is loaded with the first chart; the page starts without it. */
import { useEffect, useState } from 'preact/hooks';
import type { ChartProps } from '../charts/chart-props.js';
import { Failure, Loading } from './states.js';

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
