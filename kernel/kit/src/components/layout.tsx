/** How a panel is laid out: its head, sections, figures, tabs. */
import type { ComponentChildren } from 'preact';
import { useId, useRef } from 'preact/hooks';
import { Icon, type IconName } from './icon.js';

/** The head of a panel. `back` leads from one of a list to the list. */
export const PanelHead = ({
  title,
  note,
  back,
  actions,
}: {
  title: ComponentChildren;
  note?: ComponentChildren;
  back?: { readonly href: string; readonly label: string };
  actions?: ComponentChildren;
}) => (
  <header class="panel-head">
    {back && (
      <a class="button icon-only quiet" href={back.href} aria-label={back.label} title={back.label}>
        <Icon name="arrow-left" />
      </a>
    )}
    <div class="grow">
      <h1>{title}</h1>
      {note && <p class="muted">{note}</p>}
    </div>
    {actions && <div class="row wrap">{actions}</div>}
  </header>
);

/** The scrolling body of a panel that people scan and read. */
export const PanelBody = ({ children, wide = false }: { children: ComponentChildren; wide?: boolean }) => <div class={wide ? 'panel-body wide' : 'panel-body'}>{children}</div>;

export const Section = ({ title, note, actions, children }: { title: ComponentChildren; note?: ComponentChildren; actions?: ComponentChildren; children?: ComponentChildren }) => {
  const id = useId();
  return (
    <section class="section" aria-labelledby={id}>
      <header class="section-head">
        <div class="grow">
          <h2 id={id}>{title}</h2>
          {note && <p class="muted small-text">{note}</p>}
        </div>
        {actions}
      </header>
      {children}
    </section>
  );
};

/** One figure; a link where it leads to what it counts. */
export const Stat = ({ label, value, note, icon, href, tone }: { label: string; value: ComponentChildren; note?: ComponentChildren; icon?: IconName; href?: string; tone?: Tone }) => {
  const id = useId();
  const inside = (
    <>
      <span class="stat-label" id={id}>
        {icon && <Icon name={icon} size={16} />}
        {label}
      </span>
      <span class={tone ? `stat-value tone-${tone}` : 'stat-value'}>{value}</span>
      {note && <span class="muted small-text">{note}</span>}
    </>
  );
  return href ? (
    <a class="stat" href={href}>
      {inside}
    </a>
  ) : (
    <div class="stat" role="group" aria-labelledby={id}>
      {inside}
    </div>
  );
};

export const Stats = ({ children }: { children: ComponentChildren }) => <div class="stats">{children}</div>;

export type Tone = 'good' | 'bad' | 'warn' | 'info' | 'quiet';

export const Badge = ({ tone = 'quiet', icon, children, title }: { tone?: Tone; icon?: IconName; children: ComponentChildren; title?: string }) => (
  <span class={`badge tone-${tone}`} title={title}>
    {icon && <Icon name={icon} size={14} />}
    {children}
  </span>
);

export interface Tab {
  readonly id: string;
  readonly label: string;
  readonly count?: number;
}

/** One of several views; arrows move between the tabs. */
export const Tabs = ({ tabs, chosen, onChoose, label, children }: { tabs: readonly Tab[]; chosen: string; onChoose: (id: string) => void; label: string; children: ComponentChildren }) => {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const move = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const at = tabs.findIndex((tab) => tab.id === chosen);
    const next = tabs[(at + step + tabs.length) % tabs.length];
    if (!next) return;
    onChoose(next.id);
    list.current?.querySelector<HTMLElement>(`[data-tab="${next.id}"]`)?.focus();
  };
  return (
    <div class="tabs">
      <div class="tab-list" role="tablist" aria-label={label} ref={list} onKeyDown={move}>
        {tabs.map((tab) => (
          <button
            key={tab.id}
            type="button"
            role="tab"
            data-tab={tab.id}
            id={`${id}-${tab.id}`}
            aria-selected={tab.id === chosen}
            aria-controls={`${id}-view`}
            tabIndex={tab.id === chosen ? 0 : -1}
            onClick={() => onChoose(tab.id)}
          >
            {tab.label}
            {tab.count !== undefined && <span class="muted"> {tab.count}</span>}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-view`} aria-labelledby={`${id}-${chosen}`}>
        {children}
      </div>
    </div>
  );
};

/** Names beside their values. */
export const Facts = ({ rows }: { rows: ReadonlyArray<readonly [string, ComponentChildren]> }) => (
  <dl class="facts">
    {rows.map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
);

/** Unfolds where it stands. */
export const Fold = ({ summary, children, open = false, onToggle }: { summary: ComponentChildren; children: ComponentChildren; open?: boolean; onToggle?: (open: boolean) => void }) => (
  <details class="fold" open={open} onToggle={(event) => onToggle?.(event.currentTarget.open)}>
    <summary>
      <Icon name="chevron-right" size={16} />
      {summary}
    </summary>
    <div class="fold-body">{children}</div>
  </details>
);
