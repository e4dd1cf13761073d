/** Models as a table: who serves them, how much fits in, what they cost, what they can. */
import { Badge, type Column, count, money, type OutputOf, type Sorting, Table, useState } from '@svc/kit';
import { t } from './words.js';

export type Model = OutputOf<'listModels'>['models'][number];

export const keyOfModel = ({ provider, id }: Pick<Model, 'provider' | 'id'>): string => `${provider}/${id}`;

/** What a model of the list and one of a provider have in common. */
export interface ModelRow {
  readonly id: string;
  readonly provider: string;
  readonly display_name: string;
  readonly context_window: number;
  readonly input_cost_per_1m: number;
  readonly output_cost_per_1m: number;
  readonly pricing_known: boolean;
  readonly supports_tools: boolean;
  readonly supports_vision: boolean;
  readonly supports_thinking?: boolean | null;
  readonly available?: boolean;
}

export const priceOf = (row: ModelRow, price: number): string => (!row.pricing_known ? t('price_unknown') : price === 0 ? t('free') : money(price));

/** Prices that nobody knows come last. */
const sortable = (row: ModelRow, price: number): number => (row.pricing_known ? price : Number.MAX_SAFE_INTEGER);

const columnsOf = <Row extends ModelRow>(withProvider: boolean): ReadonlyArray<Column<Row>> => {
  const provider: Column<Row> = { id: 'provider', title: t('provider'), cell: (row) => row.provider, sortBy: (row) => row.provider };
  return [
    {
      id: 'model',
      title: t('model'),
      cell: (row) => (
        <>
          {row.display_name}
          <span class="muted mono models-id">{row.id}</span>
        </>
      ),
      sortBy: (row) => row.display_name,
    },
    ...(withProvider ? [provider] : []),
    { id: 'context', title: t('context'), align: 'end', cell: (row) => count(row.context_window), sortBy: (row) => row.context_window },
    { id: 'in', title: t('price_in'), align: 'end', cell: (row) => priceOf(row, row.input_cost_per_1m), sortBy: (row) => sortable(row, row.input_cost_per_1m) },
    { id: 'out', title: t('price_out'), align: 'end', cell: (row) => priceOf(row, row.output_cost_per_1m), sortBy: (row) => sortable(row, row.output_cost_per_1m) },
    { id: 'can', title: t('can'), isMinor: true, cell: (row) => <Abilities row={row} /> },
    ...(withProvider
      ? [{ id: 'available', title: t('state'), cell: (row: Row) => (row.available ? <Badge tone="good">{t('available')}</Badge> : <span class="muted">{t('unavailable')}</span>) }]
      : []),
  ];
};

export const Abilities = ({ row }: { row: ModelRow }) => (
  <span class="row wrap models-badges">
    {row.supports_tools && <Badge>{t('can_tools')}</Badge>}
    {row.supports_vision && <Badge>{t('can_images')}</Badge>}
    {row.supports_thinking && <Badge>{t('can_think')}</Badge>}
  </span>
);

export const ModelTable = <Row extends ModelRow>({ label, rows, hrefOf, withProvider = false }: { label: string; rows: readonly Row[]; hrefOf?: (row: Row) => string; withProvider?: boolean }) => {
  const [sorting, setSorting] = useState<Sorting>();
  return (
    <Table
      label={label}
      columns={columnsOf<Row>(withProvider)}
      rows={rows}
      keyOf={({ id, provider }) => `${provider} ${id}`}
      onSort={setSorting}
      {...(sorting ? { sorting } : {})}
      {...(hrefOf ? { hrefOf } : {})}
    />
  );
};
