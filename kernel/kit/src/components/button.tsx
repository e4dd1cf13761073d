/** What is pressed. A button that waits for its work says so and is not pressed twice. */
import type { ComponentChildren, JSX } from 'preact';
import { useId, useRef, useState } from 'preact/hooks';
import { failed, settled } from './failures.js';
import { Icon, type IconName } from './icon.js';
import { kitWords } from '../kit-words.js';

export type ButtonKind = 'plain' | 'primary' | 'danger' | 'quiet';

export interface ButtonProps {
  readonly kind?: ButtonKind;
  readonly icon?: IconName;
  readonly children?: ComponentChildren;
  readonly type?: 'button' | 'submit';
  /** The id of the form that it submits, where it stands outside of that. */
  readonly form?: string;
  readonly disabled?: boolean;
  /** Its work is done elsewhere, such as by the form that it submits. Unlike a button that is disabled it keeps the focus. */
  readonly isBusy?: boolean;
  /** Why it cannot be pressed, or what it does beyond its words. */
  readonly title?: string | undefined;
  readonly pressed?: boolean;
  readonly small?: boolean;
  /** What it rejects with is shown as a notice, which goes when it succeeds. */
  readonly onPress?: (event: MouseEvent) => unknown;
  readonly 'aria-expanded'?: boolean;
  readonly 'aria-controls'?: string;
  readonly 'aria-describedby'?: string;
}

const isPromise = (value: unknown): value is Promise<unknown> => value instanceof Promise;

const usePress = (onPress: ButtonProps['onPress']): { isBusy: boolean; press: (event: MouseEvent) => void } => {
  const [isBusy, setBusy] = useState(false);
  const busy = useRef(false);
  const about = useId();
  const press = (event: MouseEvent): void => {
    if (busy.current) return;
    const work = onPress?.(event);
    if (!isPromise(work)) return;
    busy.current = true;
    setBusy(true);
    work
      .then(
        () => settled(about),
        (error: unknown) => failed(error, about),
      )
      .finally(() => {
        busy.current = false;
        setBusy(false);
      });
  };
  return { isBusy, press };
};

export const Button = ({ kind = 'plain', icon, children, type = 'button', disabled = false, pressed, small = false, onPress, isBusy: isBusyElsewhere = false, ...rest }: ButtonProps) => {
  const own = usePress(onPress);
  const isBusy = own.isBusy || isBusyElsewhere;
  return (
    <button type={type} class={`button ${kind}${small ? ' small' : ''}`} disabled={disabled} aria-busy={isBusy} aria-pressed={pressed} onClick={own.press} {...rest}>
      {isBusy ? <Icon name="loader-circle" spins /> : icon && <Icon name={icon} />}
      {children !== undefined && <span>{children}</span>}
    </button>
  );
};

/** A button that is its icon; `label` is its name. */
export const IconButton = ({ label, icon, kind = 'quiet', ...rest }: Omit<ButtonProps, 'children' | 'title' | 'icon' | 'isBusy'> & { label: string; icon: IconName }) => {
  const { isBusy, press } = usePress(rest.onPress);
  const { small, pressed, disabled, type = 'button' } = rest;
  return (
    <button
      type={type}
      class={`button icon-only ${kind}${small ? ' small' : ''}`}
      title={label}
      aria-label={label}
      disabled={disabled}
      aria-busy={isBusy}
      aria-pressed={pressed}
      aria-expanded={rest['aria-expanded']}
      aria-controls={rest['aria-controls']}
      onClick={press}
    >
      <Icon name={isBusy ? 'loader-circle' : icon} spins={isBusy} />
    </button>
  );
};

/** A link that looks like a button: it leads somewhere. */
export const LinkButton = ({
  href,
  kind = 'plain',
  icon,
  children,
  small = false,
  ...rest
}: { href: string; kind?: ButtonKind; icon?: IconName; children?: ComponentChildren; small?: boolean } & Pick<JSX.IntrinsicElements['a'], 'download' | 'target' | 'title'>) => (
  <a class={`button ${kind}${small ? ' small' : ''}`} href={href} rel={rest.target === '_blank' ? 'noopener' : undefined} {...rest}>
    {icon && <Icon name={icon} />}
    {children !== undefined && <span>{children}</span>}
  </a>
);

const SHOWN_MS = 1_500;

export const CopyButton = ({ text, label }: { text: string | (() => string); label?: string }) => {
  const [isDone, setDone] = useState(false);
  const copy = async (): Promise<void> => {
    await copyText(typeof text === 'string' ? text : text());
    setDone(true);
    setTimeout(() => setDone(false), SHOWN_MS);
  };
  return <IconButton small icon={isDone ? 'check' : 'copy'} label={isDone ? kitWords('copied') : (label ?? kitWords('copy'))} onPress={copy} />;
};

/** Pages that came over plain HTTP from another machine have no clipboard; a selection can be copied there. */
const copyText = async (text: string): Promise<void> => {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.createElement('textarea');
  area.value = text;
  area.setAttribute('readonly', '');
  area.className = 'off-screen';
  document.body.append(area);
  area.select();
  document.execCommand('copy');
  area.remove();
};
