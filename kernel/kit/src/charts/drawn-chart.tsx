/// <reference path="../styles.d.ts" />
/** A chart drawn by uPlot, with a legend that says the values at the pointer, and the same numbers as a table. */
import './charts.css';
import 'uplot/dist/uPlot.min.css';
import { type Column, Fold, isDark, loadStyle, type RefObject, Table, timeOfInterval, useEffect, useRef, useState } from '@svc/kit';
import UPlot from 'uplot';
import type { ChartProps, ChartSeries } from './chart-props.js';
import { chartWords as t } from './chart-words.js';

const HEIGHT = 150;
const DEFAULT_WIDTH = 480;
/** Room for the axis: what a digit of its font takes, and the gap beside it. */
const DIGIT_PX = 7;
const GAP_PX = 18;
const AXIS_FONT = '12px ui-sans-serif, system-ui, sans-serif';

const colourOf = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

const bars = UPlot.paths.bars?.({ size: [0.8, 32], align: 1 });

const seriesOf = ({ label, tone, kind }: ChartSeries): UPlot.Series => {
  const colour = colourOf(tone);
  const common = { label, stroke: colour, points: { show: false } };
  if (kind !== 'line' && bars) return { ...common, fill: colour, width: 0, paths: bars };
  return { ...common, width: 1.5, spanGaps: true, points: { show: true, size: 4, fill: colour } };
};

const axis = (more: UPlot.Axis): UPlot.Axis => {
  const edge = colourOf('edge');
  return { stroke: colourOf('muted'), font: AXIS_FONT, grid: { stroke: edge, width: 1 }, ticks: { stroke: edge, width: 1, size: 4 }, ...more };
};

interface Drawing extends Pick<ChartProps, 'series' | 'format' | 'intervalSeconds'> {
  readonly width: number;
  readonly onPoint: (index: number | undefined) => void;
}

const optionsOf = ({ series, format, intervalSeconds, width, onPoint }: Drawing): UPlot.Options => ({
  width,
  height: HEIGHT,
  legend: { show: false },
  cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
  // Room for the last interval, above the highest value, and an axis also where all are 0.
  scales: { x: { range: (_, first, last) => [first, last + intervalSeconds] }, y: { range: (_, __, most) => [0, most > 0 ? most * 1.1 : 1] } },
  axes: [
    axis({ values: (_, times) => times.map((time) => timeOfInterval(time * 1_000, intervalSeconds)), grid: { show: false } }),
    axis({
      values: (_, values) => values.map(format),
      size: (_, values) => GAP_PX + DIGIT_PX * Math.max(1, ...(values ?? []).map(({ length }) => length)),
    }),
  ],
  series: [{}, ...series.map(seriesOf)],
  hooks: { setCursor: [({ cursor: { idx } }) => onPoint(idx ?? undefined)] },
});

const dataOf = ({ starts, series }: Pick<ChartProps, 'starts' | 'series'>): UPlot.AlignedData => [starts.map((start) => Date.parse(start) / 1_000), ...series.map(heightsOf)];

/** The bar of a stack reaches as high as all below it and its own value; those after it are drawn over it. */
const heightsOf = ({ kind, values }: ChartSeries, at: number, all: readonly ChartSeries[]): Array<number | null> => {
  if (kind !== 'stack') return [...values];
  const below = all.slice(at + 1).filter((other) => other.kind === 'stack');
  return values.map((value, index) => below.reduce((sum, other) => sum + (other.values[index] ?? 0), value ?? 0));
};

/** Draws anew where the look changes, and only puts in what is new where the numbers do. */
const usePlot = (place: RefObject<HTMLDivElement | null>, props: ChartProps, onPoint: Drawing['onPoint']): void => {
  const { series, format, intervalSeconds } = props;
  const plot = useRef<UPlot>(undefined);
  const look = `${isDark.value} ${intervalSeconds} ${series.map(({ label, tone, kind }) => `${label} ${tone} ${kind}`).join()}`;
  useEffect(() => {
    const target = place.current;
    if (!target) return undefined;
    const drawn = new UPlot(optionsOf({ series, format, intervalSeconds, width: target.clientWidth || DEFAULT_WIDTH, onPoint }), dataOf(props), target);
    plot.current = drawn;
    const resized = new ResizeObserver(([entry]) => drawn.setSize({ width: entry?.contentRect.width || DEFAULT_WIDTH, height: HEIGHT }));
    resized.observe(target);
    return () => {
      resized.disconnect();
      drawn.destroy();
    };
  }, [look]);
  useEffect(() => plot.current?.setData(dataOf(props)), [props.starts, series]);
};

const Legend = ({ series, format, intervalSeconds, start, index }: Omit<ChartProps, 'label' | 'starts'> & { start: string | undefined; index: number | undefined }) => (
  <ul class="chart-legend small-text" aria-hidden="true">
    {series.map(({ label, tone, total, values }) => {
      const value = index === undefined ? undefined : values[index];
      return (
        <li key={label}>
          <span class={`chart-key tone-${tone}`} />
          <span class="muted">{label}</span> <strong>{index === undefined ? total : value === undefined || value === null ? '–' : format(value)}</strong>
        </li>
      );
    })}
    {start !== undefined && <li class="muted">{timeOfInterval(Date.parse(start), intervalSeconds, 'whole')}</li>}
  </ul>
);

interface Row {
  readonly start: string;
  readonly index: number;
}

const columnsOf = ({ series, format, intervalSeconds }: ChartProps): ReadonlyArray<Column<Row>> => [
  { id: 'start', title: t('time'), cell: ({ start }) => timeOfInterval(Date.parse(start), intervalSeconds, 'whole') },
  ...series.map(({ label, values }) => ({
    id: label,
    title: label,
    align: 'end' as const,
    cell: ({ index }: Row) => {
      const value = values[index];
      return value === undefined || value === null ? '–' : format(value);
    },
  })),
];

/** Intervals in which something happened, the newest first. A line beside bars, such as a limit, is there in each of them. */
const rowsOf = ({ starts, series }: ChartProps): Row[] => {
  const bars = series.filter(({ kind }) => kind !== 'line');
  const counted = bars.length > 0 ? bars : series;
  return starts
    .map((start, index) => ({ start, index }))
    .filter(({ index }) => counted.some(({ values }) => (values[index] ?? 0) !== 0))
    .reverse();
};

export const DrawnChart = (props: ChartProps) => {
  const place = useRef<HTMLDivElement>(null);
  const [index, setIndex] = useState<number>();
  const [isOpen, setOpen] = useState(false);
  useEffect(() => void loadStyle('/ui/charts.css'), []);
  usePlot(place, props, setIndex);
  const label = t('as_table', { label: props.label });
  return (
    <div class="chart">
      <Legend {...props} index={index} start={index === undefined ? undefined : props.starts[index]} />
      <div class="chart-plot" ref={place} aria-hidden="true" />
      <Fold summary={label} open={isOpen} onToggle={setOpen}>
        {isOpen && <Table label={label} columns={columnsOf(props)} rows={rowsOf(props)} keyOf={({ start }) => start} />}
      </Fold>
    </div>
  );
};
