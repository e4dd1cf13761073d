/** The components of the kit. */
export { Button, type ButtonKind, type ButtonProps, CopyButton, IconButton, LinkButton } from './button.js';
export type { ChartProps, ChartSeries, ChartTone } from '../charts/chart-props.js';
export { Chart } from './chart.js';
export { confirmed, Dialog, Questions } from './dialog.js';
export { DiffView } from './diff-view.js';
export { failed, isOutageSaid, notify, sayingOf, settled } from './failures.js';
export { CheckField, type Option, SearchField, Select, TextArea, TextField } from './fields.js';
export { FormDialog } from './form-dialog.js';
export { Icon, iconNamed, type IconName } from './icon.js';
export { Badge, Facts, Fold, PanelBody, PanelHead, Section, Stat, Stats, type Tab, Tabs, type Tone } from './layout.js';
export { LongList } from './long-list.js';
export { Menu, type MenuItem } from './menu.js';
export { Notices } from './notices.js';
export { ChangedElsewhere, Review } from './review.js';
export { Empty, Failure, Loading, Shown } from './states.js';
export { type Column, type Sorting, Table } from './table.js';
export { useRoving } from './roving.js';
