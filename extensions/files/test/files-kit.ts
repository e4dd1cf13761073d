/** A daemon with an agent, and files to send to it. */
import { request } from 'node:http';
import { connect } from 'node:net';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestAnswer, TestHttp, TestKernel } from '@svc/testing';

/** One pixel. */
export const PNG = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');
export const GIF = Buffer.from('R0lGODlhAQABAAAAACwAAAAAAQABAAACAkQBADs=', 'base64');
export const JPEG = Buffer.from('ffd8ffe000104a46494600010100000100010000ffd9', 'hex');

/** A PDF whose pages show these texts, in letters that need no escape. */
export const pdfOf = (...texts: string[]): Buffer => {
  const kids = texts.map((_, index) => `${4 + index * 2} 0 R`).join(' ');
  const objects = ['<< /Type /Catalog /Pages 2 0 R >>', `<< /Type /Pages /Kids [${kids}] /Count ${texts.length} >>`, '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>'];
  for (const [index, text] of texts.entries()) {
    const drawn = `BT /F1 24 Tf 72 700 Td (${text}) Tj ET`;
    objects.push(`<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${5 + index * 2} 0 R /Resources << /Font << /F1 3 0 R >> >> >>`);
    objects.push(`<< /Length ${drawn.length} >>\nstream\n${drawn}\nendstream`);
  }
  let out = '%PDF-1.4\n';
  const offsets = objects.map((object, index) => {
    const at = out.length;
    out += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(at).padStart(10, '0')} 00000 n \n`;
  });
  const xref = out.length;
  return Buffer.from(`${out}xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${offsets.join('')}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${xref}\n%%EOF\n`, 'latin1');
};

const answerOf = async (response: Response): Promise<TestAnswer> => {
  const text = await response.text();
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    body = undefined;
  }
  return { status: response.status, headers: response.headers, text, body };
};

type Headers = Record<string, string>;

/** As a page or undici sends a form. */
export const sendForm = async (http: TestHttp, agentId: string, file: { bytes: Uint8Array; type?: string; name?: string }, headers: Headers = {}): Promise<TestAnswer> => {
  const form = new FormData();
  form.set('file', new Blob([file.bytes as Uint8Array<ArrayBuffer>], file.type === undefined ? {} : { type: file.type }), file.name ?? 'file');
  return answerOf(await fetch(`${http.url}/api/agents/${agentId}/upload`, { method: 'POST', body: form, headers }));
};

/** The body is the file. */
export const sendBody = async (http: TestHttp, agentId: string, bytes: Uint8Array | string, headers: Headers): Promise<TestAnswer> =>
  answerOf(await fetch(`${http.url}/api/agents/${agentId}/upload`, { method: 'POST', body: bytes as string, headers }));

/** A form made by hand, right or wrong. */
export const sendRawForm = (http: TestHttp, agentId: string, body: string | Buffer, type = 'multipart/form-data; boundary=XX'): Promise<TestAnswer> =>
  sendBody(http, agentId, typeof body === 'string' ? Buffer.from(body, 'latin1') : body, { 'content-type': type });

/** The answer, and how many bytes could be sent before it came. Nothing is sent twice or held back. */
export const sendEndlessly = (http: TestHttp, path: string, headers: Headers): Promise<{ status: number; sent: number }> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(http.url);
    const piece = Buffer.alloc(65_536, 0x61);
    let sent = 0;
    let isAnswered = false;
    const sending = request({ hostname, port, path, method: 'POST', headers }, (response) => {
      isAnswered = true;
      resolve({ status: response.statusCode ?? 0, sent });
      response.resume();
      sending.destroy();
    });
    sending.on('error', (error) => (isAnswered ? undefined : reject(error)));
    const more = (): void => {
      while (!isAnswered && sending.writable) {
        sent += piece.length;
        if (!sending.write(piece)) return;
      }
    };
    sending.on('drain', more);
    more();
  });

/** Begins a body, and hangs up in the middle of it when `when` resolves. */
export const hangUpAfter = async (http: TestHttp, path: string, head: string, body: Buffer, when: () => Promise<void>): Promise<void> => {
  const { hostname, port } = new URL(http.url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  socket.write(`POST ${path} HTTP/1.1\r\nhost: localhost\r\n${head}\r\n\r\n`);
  socket.write(body);
  await when();
  socket.destroy();
};

/** Files below a folder of the daemon's home; none where it is not there. */
export const filesBelow = async (kernel: TestKernel, folder: string): Promise<string[]> => {
  const found = await readdir(join(kernel.home, folder), { recursive: true, withFileTypes: true }).catch(() => []);
  return found.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name).slice(join(kernel.home, folder).length + 1));
};
