/**
 * A mail as a message of a channel.
 *
 * E1  Automatic, own and list mail, bounces and what the mail server says is forged get no answer (RFC 3834).
 * E2  What others quote, and what they sign with, is not part of the message.
 */
import type { Address, Email, RawEmail } from 'postal-mime';
import type { Incoming } from '../adapter.js';

const MAX_TEXT = 50_000;
const MAX_ID = 200;
const MAX_REFERENCES = 20;
const NESTING = 20;
const MAX_HEADERS = 256 * 1024;
const ID = /<[^<>\s]{1,190}>/g;

export interface ReadMail {
  readonly message?: Omit<Incoming, 'place'>;
  /** Why it gets no answer. */
  readonly ignored?: string;
}

export const readMail = async (raw: RawEmail, own: string, uid: string): Promise<ReadMail> => {
  const { default: PostalMime } = await import('postal-mime');
  const mail = await PostalMime.parse(raw, { maxNestingDepth: NESTING, maxHeadersSize: MAX_HEADERS, attachmentEncoding: 'arraybuffer' }).catch(() => undefined);
  if (!mail) return { ignored: 'it is not readable' };
  const ignored = whyIgnored(mail, own);
  if (ignored !== undefined) return { ignored };
  const sender = addressOf(mail.from);
  const id = idsIn(mail.messageId)[0];
  const [references, inReplyTo] = [idsIn(mail.references), idsIn(mail.inReplyTo)];
  const thread = references[0] ?? inReplyTo[0] ?? id;
  const subject = lineOf(mail.subject ?? '');
  const body = withoutQuotes(mail.text || textOfHtml(mail.html ?? ''));
  const isReply = references.length + inReplyTo.length > 0 || /^(?:re|aw|sv|回复)\s*[:：]/i.test(subject);
  const name = lineOf(nameOf(mail.from));
  const others = [...addressesIn(mail.to), ...addressesIn(mail.cc)].filter((one) => one !== own && one !== sender);
  return {
    message: {
      id: id ?? uid,
      chat: sender,
      sender,
      ...(thread === undefined ? {} : { thread: thread.slice(0, MAX_ID) }),
      ...(name === '' ? {} : { senderName: name }),
      text: [...(isReply || subject === '' ? [] : [subject]), ...(body === '' ? [] : [body]), ...filesOf(mail)].join('\n\n').slice(0, MAX_TEXT),
      isGroup: others.length > 0,
      isMentioned: addressesIn(mail.to).includes(own),
      facts: {
        subject,
        ...(id === undefined ? {} : { reply: id }),
        references: [...(references.length > 0 ? references : inReplyTo), ...(id === undefined ? [] : [id])].slice(-MAX_REFERENCES).join(' '),
      },
    },
  };
};

const headerOf = ({ headers }: Email, name: string): string =>
  headers
    .find(({ key }) => key === name)
    ?.value.trim()
    .toLowerCase() ?? '';

const whyIgnored = (mail: Email, own: string): string | undefined => {
  const from = addressOf(mail.from);
  const header = (name: string): string => headerOf(mail, name);
  if (!isAddress(from)) return 'it has no sender';
  if (from === own) return 'svc wrote it';
  if (/^(?:mailer-daemon|postmaster|no-?reply|do-?not-?reply|bounces?)(?:[+@-]|$)/.test(from) || header('return-path') === '<>') return 'nobody reads answers there';
  if (header('auto-submitted') !== '' && !header('auto-submitted').startsWith('no')) return 'a program wrote it';
  if (/^(?:bulk|junk|list|auto_reply)\b/.test(header('precedence')) || ['list-id', 'list-post', 'list-unsubscribe'].some((name) => header(name) !== '')) return 'it came from a mailing list';
  if (['x-autoreply', 'x-autorespond', 'x-auto-response-suppress'].some((name) => header(name) !== '' && header(name) !== 'no' && header(name) !== 'none')) return 'a program wrote it';
  if (header('content-type').startsWith('multipart/report')) return 'it is a report about another mail';
  if (header('x-spam-flag').startsWith('yes')) return 'the mail server takes it for spam';
  // The first of these headers is the one that the own server added.
  if (/\bdmarc=fail\b/.test(header('authentication-results'))) return 'its sender is forged, as the mail server says';
  return undefined;
};

/** One address, without anything that would begin a second one or another header. */
export const isAddress = (text: string): boolean => text.length <= 320 && /^[^\s<>()[\]\\,;:"@\p{Cc}]+@[^\s<>()[\]\\,;:"@\p{Cc}]+$/u.test(text);

const addressOf = (address: Address | undefined): string => (address?.address ?? '').trim().toLowerCase();
const nameOf = (address: Address | undefined): string => address?.name ?? '';
const addressesIn = (list: readonly Address[] = []): string[] =>
  list.flatMap((one) => (one.group ? one.group.map((member) => member.address.toLowerCase()) : [addressOf(one)])).filter((one) => one !== '');

export const idsIn = (text: string | undefined): string[] => text?.match(ID) ?? [];

/** Of one line: nothing in it can become a header. */
export const lineOf = (text: string): string =>
  text
    .replaceAll(/\p{Cc}+/gu, ' ')
    .trim()
    .slice(0, MAX_ID);

const filesOf = ({ attachments }: Email): string[] => {
  const names = attachments.filter(({ disposition, filename }) => disposition === 'attachment' || filename !== null).map(({ filename, mimeType }) => lineOf(filename ?? mimeType));
  return names.length === 0 ? [] : [`[Attached, not read: ${names.slice(0, 20).join(', ')}${names.length > 20 ? ` and ${names.length - 20} more` : ''}]`];
};

const ENTITIES: ReadonlyMap<string, string> = new Map<string, string>(Object.entries({ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' }));

/** What nobody reads, with its content. One that does not end stays, and so does all after it: an expression would look for the end of each again. */
const withoutUnread = (html: string): string => {
  const [begin, end] = [/<(?:style|script|head)\b/gi, /<\/(?:style|script|head)>/gi];
  let text = '';
  let from = 0;
  for (let found = begin.exec(html); found; found = begin.exec(html)) {
    end.lastIndex = html.indexOf('>', found.index) + 1;
    if (end.lastIndex === 0 || !end.exec(html)) break;
    text += html.slice(from, found.index);
    from = begin.lastIndex = end.lastIndex;
  }
  return text + html.slice(from);
};

/** Above the first quotation. */
const aboveQuotes = (html: string): string => {
  const at = html.search(/<blockquote\b/i);
  return at < 0 || !html.includes('>', at) ? html : html.slice(0, at);
};

/** Each `<` that is looked at has a `>` behind it, so that none is looked for in vain. */
const withTags = (html: string, tag: RegExp, by: string): string => {
  const end = html.lastIndexOf('>') + 1;
  return html.slice(0, end).replaceAll(tag, by) + html.slice(end);
};

const withoutTags = (html: string): string => withTags(withTags(html, /<br\b[^>]*>|<\/(?:p|div|tr|li|h[1-6]|table|ul|ol)>/gi, '\n'), /<[^>]*>/g, '');

export const textOfHtml = (html: string): string =>
  withoutTags(aboveQuotes(withoutUnread(html.slice(0, 500_000))).replaceAll(/\s+/g, ' '))
    .replaceAll(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(\w{1,10}));/gi, (whole, decimal?: string, hex?: string, name?: string) => {
      if (name !== undefined) return ENTITIES.get(name.toLowerCase()) ?? whole;
      const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
      return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '';
    })
    .replaceAll(/(?<! ) *\n */g, '\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();

const INTRO = /^(?:On .{1,300} wrote:|Am .{1,300} schrieb .{0,300}:|Le .{1,300} a écrit\s*:|在.{1,300}写道：|-{3,} ?(?:Original Message|Forwarded message|Ursprüngliche Nachricht) ?-{3,}|_{10,})\s*$/i;

/** The text above what is quoted at the end, without the signature. */
const withoutQuotes = (text: string): string => {
  const lines = text.replaceAll('\r', '').split('\n');
  const signature = lines.indexOf('-- ');
  const intro = lines.findIndex((line, index) => index > 0 && (INTRO.test(line) || (/^On .{1,200}$/.test(line) && /^.{0,200}wrote:\s*$/.test(lines[index + 1] ?? ''))));
  let end = Math.min(signature < 0 ? lines.length : signature, intro < 0 ? lines.length : intro);
  while (end > 0 && /^(?:>.*|\s*)$/.test(lines[end - 1] ?? '')) end -= 1;
  return lines.slice(0, end).join('\n').trim();
};
