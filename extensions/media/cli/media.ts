/** `svc media`: images, speech, video, music, and the text of recordings. What is made is saved where `-o` says. */
import { open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import {
  type Action,
  bytesText,
  type Cli,
  type Command,
  type DaemonClient,
  EXIT,
  Failure,
  failureOf,
  type Outcome,
  printable,
  readStdinBytes,
  table,
  typed,
  usageFailure,
  watched,
} from '@svc/cli/area';
import type { InputOf, OutputOf } from '@svc/client';

const MAX_RECORDING_BYTES = 10 * 1_024 * 1_024;
const LOOK_AGAIN_MS = 2_000;
const OUTPUT = 'save it to this file; an existing file is replaced when the download is complete';

interface Flags {
  readonly provider?: string;
  readonly model?: string;
  readonly output?: string;
}

const making = (media: Command, name: string, description: string, argument: string): Command =>
  media.command(name).description(description).argument(argument).option('--provider <name>', 'who makes it').option('--model <name>', 'with this model').option('-o, --output <file>', OUTPUT);

export const define = (program: Command, action: Action): void => {
  const media = program.command('media').description('Images, speech, video, music, and the text of recordings').helpCommand(false);
  making(media, 'image', 'Make images from a text', '<prompt...>')
    .option('--width <pixels>')
    .option('--height <pixels>')
    .option('--count <number>', 'how many, 1 to 9')
    .option('--quality <word>', "the model's own word, such as hd")
    .action(action((cli, prompt: string[], flags: Flags & { width?: string; height?: string; count?: string; quality?: string }) => image(cli, prompt.join(' '), flags)));
  making(media, 'speech', 'Read a text aloud', '<text...>')
    .option('--voice <name>', "the provider's name for a voice")
    .option('--format <name>', 'mp3, wav, opus or flac')
    .option('--speed <factor>', '0.25 to 4')
    .action(action((cli, text: string[], flags: Flags & { voice?: string; format?: string; speed?: string }) => speech(cli, text.join(' '), flags)));
  making(media, 'music', 'Make a song', '[prompt...]')
    .option('--lyrics <text>', 'what is sung')
    .option('--instrumental', 'without a voice')
    .option('--format <name>', 'mp3 or wav')
    .action(action((cli, prompt: string[], flags: Flags & { lyrics?: string; instrumental?: boolean; format?: string }) => music(cli, prompt.join(' '), flags)));
  making(media, 'video', 'Begin a video; with -o or --wait, wait until it is there', '<prompt...>')
    .option('--seconds <number>', 'how long it is, 1 to 60')
    .option('--resolution <name>', 'such as 768P or 1080P')
    .option('--wait', 'wait until it is there')
    .action(action((cli, prompt: string[], flags: Flags & { seconds?: string; resolution?: string; wait?: boolean }) => video(cli, prompt.join(' '), flags)));
  media
    .command('show-video')
    .description('Show the state of a video')
    .argument('<task-id>')
    .argument('<provider>')
    .action(action((cli, id: string, provider: string) => showVideo(cli, id, provider)));
  media
    .command('transcribe')
    .description('Write down what is said in a recording (mp3, wav, ogg, flac, m4a, webm)')
    .argument('<file>', 'on this machine')
    .option('--provider <name>')
    .option('--model <name>')
    .option('--language <code>', 'such as en or zh')
    .action(action((cli, file: string, flags: { provider?: string; model?: string; language?: string }) => transcribe(cli, file, flags)));
  media
    .command('providers')
    .description('List who makes what, and who has a key')
    .action(action((cli) => providers(cli)));
};

/** The daemon checks ranges; only what is no number is refused here. */
const numbers = (given: Readonly<Record<string, string | undefined>>): Record<string, number> =>
  Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) => {
      if (value === undefined) return [];
      if (value.trim() === '' || !Number.isFinite(Number(value))) throw usageFailure(`"${value}" is no number for ${name}.`, 'give digits');
      return [[name, Number(value)]];
    }),
  );

const named = ({ provider, model }: Flags) => ({ ...(provider === undefined ? {} : { provider }), ...(model === undefined ? {} : { model }) });

const image = async (cli: Cli, prompt: string, flags: Flags & { width?: string; height?: string; count?: string; quality?: string }): Outcome => {
  const daemon = await cli.daemon();
  const { width, height, count, quality } = flags;
  const body = { prompt, ...named(flags), ...numbers({ width, height, count }), ...(quality === undefined ? {} : { quality }) };
  const made = await watched(cli.out, 'making it', daemon.call('generateImage', { body }));
  const urls = made.images.map(({ url }) => url);
  return shown(cli, daemon, made, urls, flags.output);
};

const speech = async (cli: Cli, text: string, flags: Flags & { voice?: string; format?: string; speed?: string }): Outcome => {
  const daemon = await cli.daemon();
  const { voice, format, speed } = flags;
  const body = { text, ...named(flags), ...numbers({ speed }), ...(voice === undefined ? {} : { voice }), ...(format === undefined ? {} : { format }) } as InputOf<'generateSpeech'>['body'];
  const made = await watched(cli.out, 'speaking', daemon.call('generateSpeech', { body }));
  return shown(cli, daemon, made, [made.url], flags.output);
};

const music = async (cli: Cli, prompt: string, flags: Flags & { lyrics?: string; instrumental?: boolean; format?: string }): Outcome => {
  const daemon = await cli.daemon();
  const { lyrics, instrumental, format } = flags;
  const body = {
    ...named(flags),
    ...(prompt === '' ? {} : { prompt }),
    ...(lyrics === undefined ? {} : { lyrics }),
    ...(instrumental === true ? { instrumental } : {}),
    ...(format === undefined ? {} : { format }),
  } as InputOf<'generateMusic'>['body'];
  const made = await watched(cli.out, 'making it', daemon.call('generateMusic', { body }));
  return shown(cli, daemon, made, [made.url], flags.output);
};

type Video = OutputOf<'getVideo'>;

const video = async (cli: Cli, prompt: string, flags: Flags & { seconds?: string; resolution?: string; wait?: boolean }): Outcome => {
  const daemon = await cli.daemon();
  const body = { prompt, ...named(flags), ...numbers({ duration_secs: flags.seconds }), ...(flags.resolution === undefined ? {} : { resolution: flags.resolution }) };
  const begun = await daemon.call('generateVideo', { body });
  if (flags.wait !== true && flags.output === undefined) {
    if (cli.json) cli.out.json(begun);
    else cli.out.line(`Began the video ${begun.task_id}. ${typed(`svc media show-video ${begun.task_id} ${begun.provider}`)}`);
    return EXIT.ok;
  }
  const found = await watched(cli.out, 'making the video; Ctrl-C stops waiting, not the video', ended(daemon, begun.task_id, begun.provider));
  if (found.status === 'failed') throw new Failure(found.error, { code: 'media_upstream_failed', exit: EXIT.failed, fix: 'change the prompt, or name another provider' });
  return shown(cli, daemon, found, found.status === 'completed' ? [found.result.file_url] : [], flags.output);
};

const ended = async (daemon: DaemonClient, id: string, provider: string): Promise<Video> => {
  for (;;) {
    const found = await daemon.call('getVideo', { task_id: id, provider });
    if (found.status !== 'processing') return found;
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
  }
};

const showVideo = async (cli: Cli, id: string, provider: string): Outcome => {
  const daemon = await cli.daemon();
  const found = await daemon.call('getVideo', { task_id: id, provider });
  if (cli.json) cli.out.json(found);
  else if (found.status === 'failed') cli.out.line(`failed: ${printable(found.error)}`);
  else cli.out.line(found.status === 'processing' ? 'processing' : `completed: ${daemon.url}${found.result.file_url}`);
  return EXIT.ok;
};

/** Where it is, and what it cost. */
const shown = async (cli: Cli, daemon: DaemonClient, made: object, urls: readonly string[], output: string | undefined): Outcome => {
  const files = output === undefined ? [] : await saved(daemon, urls, output);
  if (cli.json) {
    cli.out.json(output === undefined ? made : { ...made, files: files.map(({ file }) => file) });
    return EXIT.ok;
  }
  for (const { file, size } of files) cli.out.line(`${cli.out.green('✓')} ${printable(file)} (${bytesText(size)})`);
  if (output === undefined) for (const url of urls) cli.out.line(`${daemon.url}${url}`);
  if ('cost_usd' in made) cli.out.line(cli.out.dim(`${made.cost_usd} USD by the list price`));
  return EXIT.ok;
};

/** `-o cat.png` of three: cat.png, cat-2.png, cat-3.png. */
const saved = async (daemon: DaemonClient, urls: readonly string[], output: string): Promise<Array<{ file: string; size: number }>> => {
  const { dir, name, ext } = path.parse(output);
  const files = [];
  for (const [index, url] of urls.entries()) {
    const file = index === 0 ? output : path.join(dir, `${name}-${index + 1}${ext}`);
    const answer = await daemon.client.open('getUpload', { file_id: url.split('/').at(-1) ?? '' }).catch((error: unknown) => {
      throw failureOf(error, daemon.url);
    });
    try {
      const { bytesOf } = await import('@svc/client/transport');
      files.push({ file, size: await writeWhole(file, bytesOf(answer.body)) });
    } finally {
      answer.close();
    }
  }
  return files;
};

const writeWhole = async (file: string, body: AsyncIterable<Uint8Array>): Promise<number> => {
  const part = `${file}.part-${process.pid}`;
  let size = 0;
  try {
    const handle = await open(part, 'wx');
    try {
      for await (const piece of body) {
        await handle.writeFile(piece);
        size += piece.byteLength;
      }
    } finally {
      await handle.close();
    }
    await rename(part, file);
    return size;
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
};

const TYPES: Readonly<Record<string, string>> = { mp3: 'audio/mpeg', wav: 'audio/wav', ogg: 'audio/ogg', opus: 'audio/ogg', flac: 'audio/flac', m4a: 'audio/mp4', webm: 'audio/webm' };

const transcribe = async (cli: Cli, file: string, { provider, model, language }: { provider?: string; model?: string; language?: string }): Outcome => {
  const type = TYPES[path.extname(file).slice(1).toLowerCase()];
  if (type === undefined && file !== '-') throw usageFailure(`${file} is no recording by its name.`, 'name a file that ends in mp3, wav, ogg, flac, m4a or webm');
  const { bytesOfFile } = await import('@svc/ext-files/cli');
  const data =
    file === '-' ? Buffer.from(await readStdinBytes(MAX_RECORDING_BYTES)) : await bytesOfFile(file, MAX_RECORDING_BYTES, { missing: 'name a file of this machine', tooLarge: 'cut it into parts' });
  const daemon = await cli.daemon();
  const query = { ...(provider === undefined ? {} : { provider }), ...(model === undefined ? {} : { model }), ...(language === undefined ? {} : { language }) };
  const found = await watched(cli.out, 'listening', daemon.call('transcribeAudio', { ...query, body: data }, { headers: { 'content-type': type ?? 'audio/mpeg' } }));
  if (cli.json) cli.out.json(found);
  else cli.out.line(printable(found.text));
  return EXIT.ok;
};

const providers = async (cli: Cli): Outcome => {
  const daemon = await cli.daemon();
  const found = await daemon.call('listMediaProviders', {});
  if (cli.json) cli.out.json(found);
  else {
    const rows = found.providers.map(({ name, configured, capabilities }) => [name, configured ? 'yes' : 'no', capabilities.join(', ')]);
    for (const line of table([{ title: 'PROVIDER' }, { title: 'KEY' }, { title: 'MAKES' }], rows, cli.out.width)) cli.out.line(line);
  }
  return EXIT.ok;
};
