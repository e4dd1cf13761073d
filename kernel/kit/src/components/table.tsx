/** Rows that people scan. On a narrow screen each row becomes a block, with the column's name beside each value. */
import type { ComponentChildren } from 'preact';
import { Icon } from './icon.js';

export interface Column<T> {
  readonly id: string;
  readonly title: string;
  readonly cell: (row: T) => ComponentChildren;
  readonly align?: 'end';
  /** Left out where the table has not much room. */
  readonly isMinor?: boolean;
  /** What rows are sorted by when the title is pressed. */
  readonly sortBy?: (row: T) => string | number;
}

export interface Sorting {
  readonly column: string;
  readonly isDown: boolean;
}

interface TableProps<T> {
  readonly label: string;
  readonly columns: ReadonlyArray<Column<T>>;
  readonly rows: readonly T[];
  readonly keyOf: (row: T) => string;
  /** Where a row leads: its first cell is the link. */
  readonly hrefOf?: (row: T) => string | undefined;
  readonly isCurrent?: (row: T) => boolean;
  readonly sorting?: Sorting;
  readonly onSort?: (sorting: Sorting) => void;
}

const sorted = <T,>(rows: readonly T[], columns: ReadonlyArray<Column<T>>, sorting: Sorting | undefined): readonly T[] => {
  const by = columns.find(({ id }) => id === sorting?.column)?.sortBy;
  if (!sorting || !by) return rows;
  const compared = (one: T, other: T): number => {
    const [left, right] = [by(one), by(other)];
    return typeof left === 'number' && typeof right === 'number' ? left - right : String(left).localeCompare(String(right), undefined, { numeric: true });
  };
  return [...rows].sort((one, other) => (sorting.isDown ? compared(other, one) : compared(one, other)));
};

export const Table = <T,>({ label, columns, rows, keyOf, hrefOf, isCurrent, sorting, onSort }: TableProps<T>) => (
  <div class="table-frame" role="region" aria-label={label} tabIndex={0}>
    <table class="table">
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column.id} scope="col" class={classOf(column)} aria-sort={sorting?.column === column.id ? (sorting.isDown ? 'descending' : 'ascending') : undefined}>
              {column.sortBy && onSort ? (
                <button type="button" class="sort" onClick={() => onSort({ column: column.id, isDown: sorting?.column === column.id && !sorting.isDown })}>
                  {column.title}
                  {sorting?.column === column.id && <Icon name={sorting.isDown ? 'arrow-down' : 'arrow-up'} size={14} />}
                </button>
              ) : (
                column.title
              )}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {sorted(rows, columns, sorting).map((row) => (
          <tr key={keyOf(row)} class={[isCurrent?.(row) && 'current', hrefOf?.(row) !== undefined && 'opens'].filter(Boolean).join(' ') || undefined} onClick={openRow}>
            {columns.map((column, index) => {
              const href = index === 0 ? hrefOf?.(row) : undefined;
              return (
                <td key={column.id} data-title={column.title} class={classOf(column)}>
                  <div class="cell">
                    {href ? (
                      <a class="row-link" href={href}>
                        {column.cell(row)}
                      </a>
                    ) : (
                      column.cell(row)
                    )}
                  </div>
                </td>
              );
            })}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

/** The whole row opens what its link leads to, for a pointer; the keyboard has the link. What is pressed in it, or marked to be copied, is not the row. */
const openRow = (event: MouseEvent): void => {
  const { currentTarget, target } = event;
  if (!(currentTarget instanceof HTMLElement) || !(target instanceof HTMLElement) || target.closest('a, button, input, select, label')) return;
  if (event.button !== 0 || getSelection()?.isCollapsed === false) return;
  currentTarget.querySelector<HTMLAnchorElement>('a.row-link')?.click();
};

const classOf = ({ align, isMinor }: { align?: 'end'; isMinor?: boolean }): string | undefined => [align === 'end' && 'end', isMinor && 'minor'].filter(Boolean).join(' ') || undefined;
