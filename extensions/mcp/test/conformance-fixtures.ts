/** The tools that the conformance suite calls on a server, as tools of an extension. */
import { type AnyTool, defineExtension, Type } from '@svc/api';
import { fixtureExtension, type TestKernel } from '@svc/testing';

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const WAV = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA==';

interface Wanted {
  readonly text?: string;
  readonly isError?: boolean;
  readonly files?: ReadonlyArray<{ readonly filename: string; readonly contentType: string; readonly data: string }>;
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const picture = { filename: 'picture.png', contentType: 'image/png', data: PNG };

const TOOLS: Readonly<Record<string, Wanted>> = {
  test_simple_text: { text: 'This is a simple text response for testing.' },
  test_error_handling: { text: 'This tool intentionally returns an error for testing', isError: true },
  test_image_content: { files: [picture] },
  test_audio_content: { files: [{ filename: 'sound.wav', contentType: 'audio/wav', data: WAV }] },
  test_embedded_resource: { files: [{ filename: 'embedded.txt', contentType: 'text/plain', data: base64('This is an embedded resource content.') }] },
  test_multiple_content_types: {
    text: 'Multiple content types test:',
    files: [picture, { filename: 'data.json', contentType: 'application/json', data: base64('{"test":"data","value":123}') }],
  },
};

const SUITE_TOOLS = Object.keys(TOOLS);
/** Only areas of the daemon itself may store files for tools: these come by the API. */
const uploaded = new Map<string, string>();

export const uploadFixtures = async ({ http, url }: TestKernel): Promise<void> => {
  const [agent] = (await http.expect(200, 'GET', '/api/agents')).body.agents;
  for (const { filename, contentType, data } of Object.values(TOOLS).flatMap(({ files = [] }) => files)) {
    const answer = await fetch(`${url}/api/agents/${agent.id}/upload`, { method: 'POST', headers: { 'content-type': contentType, 'x-filename': filename }, body: Buffer.from(data, 'base64') });
    const { file_id: id } = (await answer.json()) as { file_id?: string };
    if (id === undefined) throw new Error(`${filename}: ${answer.status}`);
    uploaded.set(filename, id);
  }
};

export const suiteFixtures = fixtureExtension({
  id: 'suite',
  contributions: { tools: SUITE_TOOLS.map((name) => ({ name, risk: 'read' as const, replay: 'safe' as const })) },
  definition: defineExtension({
    activate: (ctx) => {
      for (const [name, { text = '', isError, files = [] }] of Object.entries(TOOLS))
        ctx.tools.add({
          name,
          description: `Answers what the conformance suite expects of ${name}.`,
          params: Type.Object({}),
          risk: 'read',
          replay: 'safe',
          parallel: true,
          run: async () => ({
            content: text,
            ...(isError ? { isError } : {}),
            ...(files.length > 0 ? { files: files.map(({ filename, contentType }) => ({ id: uploaded.get(filename) ?? '', name: filename, mediaType: contentType })) } : {}),
          }),
        } satisfies AnyTool);
    },
  }),
});
