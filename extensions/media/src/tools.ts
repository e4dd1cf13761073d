/** What agents may make, where their manifest grants `media_create`. Files are uploads of the agent's owner, beside the text of the result. */
import { type AnyTool, defineTool, type Dir, type ToolCall, type ToolOutput, Type } from '@svc/api';
import { MediaCreate } from './contract.js';
import { mediaErrors } from './errors.js';
import type { StoredFile } from './making/files.js';
import type { Who } from './making/spending.js';
import type { Studio } from './making/studio.js';
import { ImageBody, MusicBody, SpeechBody, VideoBody } from './routes.js';
import type { Tasks } from './tasks.js';
import { textPath, workspacePath } from './workspace-path.js';

export interface ToolDeps {
  readonly studio: Studio;
  readonly tasks: Tasks;
  readonly workspaces: Dir;
}

const MAX_RECORDING_BYTES = 10 * 1_048_576;
const MINUTES_10_MS = 600_000;
const makes = { risk: 'write', capabilities: [MediaCreate.name], openWorld: false, replay: 'never', parallel: true, timeoutMs: MINUTES_10_MS } as const;

const whoOf = ({ actor, agentId, runId, signal }: ToolCall): Who => ({ actor, agentId, runId, signal });

const withFiles = (content: string, files: readonly StoredFile[]): ToolOutput => ({
  content: [content, ...files.map(({ url, mediaType }) => `${url} (${mediaType})`)].join('\n'),
  files: files.map(({ id, name, mediaType }) => ({ id, name, mediaType })),
});

export const mediaTools = (deps: ToolDeps): AnyTool[] => [...makingTools(deps), ...videoTools(deps), ...transcribing(deps)];

const { prompt, provider, model, width, height, count, aspect_ratio, quality } = ImageBody.properties;
const { text, voice, format, speed } = SpeechBody.properties;

const makingTools = ({ studio }: ToolDeps): AnyTool[] => [
  defineTool({
    name: 'image_generate',
    description: 'Makes images from a text. The person sees them beside your answer.',
    params: Type.Object({ prompt, provider, model, width, height, count, aspect_ratio, quality }),
    ...makes,
    run: async (args, call) => {
      const { answer, files } = await studio.image(whoOf(call), args);
      return withFiles(`Made ${files.length} with ${answer.provider}/${answer.model}.${answer.revised_prompt === null ? '' : ` It used this prompt: ${answer.revised_prompt}`}`, files);
    },
  }),
  defineTool({
    name: 'text_to_speech',
    description: 'Reads a text aloud. The person can play the sound beside your answer.',
    params: Type.Object({ text, voice, format, speed, provider, model }),
    ...makes,
    run: async (args, call) => {
      const { answer, files } = await studio.speech(whoOf(call), args);
      return withFiles(`Spoken by ${answer.provider}/${answer.model}, ${answer.duration_ms} ms.`, files);
    },
  }),
  defineTool({
    name: 'music_generate',
    description: 'Makes a song from a prompt, lyrics or both. It takes a minute or two.',
    params: Type.Object(MusicBody.properties),
    ...makes,
    run: async (args, call) => {
      const { answer, files } = await studio.music(whoOf(call), args);
      return withFiles(`Made by ${answer.provider}/${answer.model}, ${answer.duration_ms} ms.`, files);
    },
  }),
];

const videoTools = ({ tasks }: ToolDeps): AnyTool[] => [
  defineTool({
    name: 'video_generate',
    description: 'Begins a video, which takes minutes. If you were asked in a chat of a channel, it is sent there when it is ready. Elsewhere, video_status says when it is there.',
    params: Type.Object(VideoBody.properties),
    ...makes,
    run: async (args, call) => {
      const { task_id: id, provider: by } = await tasks.begin(whoOf(call), args);
      return `Began the video ${id} at ${by}.`;
    },
  }),
  defineTool({
    name: 'video_status',
    description: 'Shows the state of a video, and the video when it is there.',
    params: Type.Object({ task_id: Type.String({ format: 'uuid' }), provider }),
    risk: 'read',
    capabilities: [MediaCreate.name],
    openWorld: false,
    replay: 'safe',
    parallel: true,
    run: async ({ task_id: id, provider: by }, { actor }) => {
      const row = await tasks.get(actor, id, by);
      if (row.state === 'failed') return { content: `The video failed: ${row.error ?? ''}`, isError: true };
      if (row.file_id === null) return 'The video is not ready yet.';
      return withFiles('The video is ready.', [{ id: row.file_id, name: 'video.mp4', mediaType: 'video/mp4', url: `/api/uploads/${row.file_id}` }]);
    },
  }),
];

const TYPES: ReadonlyMap<string, string> = new Map<string, string>(
  Object.entries({
    mp3: 'audio/mpeg',
    wav: 'audio/wav',
    ogg: 'audio/ogg',
    oga: 'audio/ogg',
    opus: 'audio/ogg',
    m4a: 'audio/mp4',
    flac: 'audio/flac',
    webm: 'audio/webm',
    weba: 'audio/webm',
  }),
);

const Path = Type.String({ minLength: 1, maxLength: 4_096, description: 'Of the recording, from your workspace' });
const Spoken = { language: Type.Optional(Type.String({ maxLength: 20 })), prompt: Type.Optional(Type.String({ maxLength: 1_000, description: 'Words to expect' })), provider, model };

const transcribing = (deps: ToolDeps): AnyTool[] => {
  const transcribed = async (path: string, asked: { language?: string; prompt?: string; provider?: string; model?: string }, call: ToolCall): Promise<ToolOutput> => {
    const dir = deps.workspaces.dir(call.agentId);
    const inside = workspacePath(dir, path);
    const type = TYPES.get(/\.([A-Za-z0-9]+)$/.exec(inside)?.[1]?.toLowerCase() ?? '');
    if (type === undefined) throw mediaErrors.not_audio(inside);
    const data = await dir.read(inside, { maxBytes: MAX_RECORDING_BYTES });
    const said = await deps.studio.transcribe(whoOf(call), { ...asked, data, type });
    return { content: said.text, origin: { labels: ['ExternalNetwork'], source: `the recording ${inside}` } };
  };
  const reads = { ...makes, capabilities: [MediaCreate.name, 'file_system'], openWorld: true } as const;
  return [
    defineTool({
      name: 'speech_to_text',
      description: 'Writes down what is said in a recording of your workspace.',
      params: Type.Object({ path: Path, ...Spoken }),
      ...reads,
      risk: 'read',
      needs: ({ path }) => [{ capability: 'file_system', target: path }],
      run: ({ path, ...asked }, call) => transcribed(path, asked, call),
    }),
    defineTool({
      name: 'media_transcribe',
      description: 'Writes down what is said in a recording of your workspace, into a file of it.',
      params: Type.Object({
        path: Path,
        out_path: Type.Optional(Type.String({ minLength: 1, maxLength: 4_096, description: 'The file for the text; an existing one is replaced. By default, the name of the recording with .txt' })),
        ...Spoken,
      }),
      ...reads,
      needs: ({ path, out_path: out }) => [path, out ?? textPath(path)].map((target) => ({ capability: 'file_system', target })),
      writes: ({ path, out_path: out }) => [out ?? textPath(path)],
      run: async ({ path, out_path: out, ...asked }, call) => {
        const dir = deps.workspaces.dir(call.agentId);
        const target = workspacePath(dir, out ?? textPath(path), 'write');
        const said = await transcribed(path, asked, call);
        await dir.write(target, said.content, { noLinks: true });
        return { content: `Wrote ${said.content.length} characters to ${target}.` };
      },
    }),
  ];
};
