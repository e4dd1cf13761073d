/** @svc/kit/charts: the code behind `Chart`, with its library. Loaded with the first chart. */
export { DrawnChart } from './drawn-chart.js';
