/** Numbers over time. The code that draws is loaded with the first chart; the page starts without it. */
import type { ChartProps } from '../charts/chart-props.js';
import { besideKit, useCode } from '../later-code.js';
import { Failure, Loading } from './states.js';

type Charts = typeof import('../charts/index.js');
const loadCharts = (): Promise<Charts> => besideKit('/ui/charts.js');

export const Chart = (props: ChartProps) => {
  const { code: charts, error } = useCode(loadCharts);
  if (error !== undefined) return <Failure error={error} />;
  return charts ? <charts.DrawnChart {...props} /> : <Loading lines={4} label={props.label} />;
};
