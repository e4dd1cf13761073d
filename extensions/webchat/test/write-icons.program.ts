/**
 * Writes the icons of the installed page from its logo, page/icon.svg. Run it when the logo changes:
 *
 *   node dist/test/extensions/webchat/test/write-icons.program.js
 */
import { readFile, writeFile } from 'node:fs/promises';
import { crc32, deflateSync } from 'node:zlib';
import { chromium } from 'playwright-core';
import { LAUNCH } from '@svc/test/page/browser';

const PAGE = 'extensions/webchat/page';
/** A system cuts a maskable one to its own form: its ground reaches into the corners. */
const ICONS = [
  { name: 'icon-192.png', size: 192, isMaskable: false },
  { name: 'icon-512.png', size: 512, isMaskable: false },
  { name: 'icon-maskable-512.png', size: 512, isMaskable: true },
] as const;

const chunk = (type: string, content: Buffer): Buffer => {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), content]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(content.length);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
};

/** Of few colours: so few bits of each channel count that a palette has them all. */
const pngOf = (pixels: Uint8Array, size: number): Buffer => {
  const palette = new Map<string, number>();
  const rows = Array.from({ length: size }, (_, y) => {
    const row = Buffer.alloc(size + 1);
    for (let x = 0; x < size; x += 1) {
      const at = (y * size + x) * 4;
      const colour = Array.from(pixels.subarray(at, at + 4), (value) => Math.round(Math.round(value / 17) * 17)).join();
      if (!palette.has(colour)) palette.set(colour, palette.size);
      row[x + 1] = palette.get(colour) ?? 0;
    }
    return row;
  });
  if (palette.size > 256) throw new Error(`${palette.size} colours are more than a palette has`);
  const colours = [...palette.keys()].map((colour) => colour.split(',').map(Number));
  const head = Buffer.alloc(13);
  head.writeUInt32BE(size, 0);
  head.writeUInt32BE(size, 4);
  // Eight bits, by palette.
  head.set([8, 3, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', head),
    chunk('PLTE', Buffer.from(colours.flatMap((colour) => colour.slice(0, 3)))),
    chunk('tRNS', Buffer.from(colours.map((colour) => colour[3] ?? 255))),
    chunk('IDAT', deflateSync(Buffer.concat(rows), { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
};

const logo = await readFile(`${PAGE}/icon.svg`, 'utf8');
const browser = await chromium.launch(LAUNCH);
const page = await browser.newPage();
for (const { name, size, isMaskable } of ICONS) {
  const svg = isMaskable ? logo.replace(/ rx="\d+"/, '') : logo;
  const pixels = await page.evaluate(
    async ([source, side]) => {
      const image = new Image(side, side);
      image.src = `data:image/svg+xml,${encodeURIComponent(source)}`;
      await image.decode();
      const canvas = Object.assign(document.createElement('canvas'), { width: side, height: side });
      const context = canvas.getContext('2d');
      context?.drawImage(image, 0, 0, side, side);
      return Array.from(context?.getImageData(0, 0, side, side).data ?? []);
    },
    [svg, size] as const,
  );
  await writeFile(`${PAGE}/icons/${name}`, pngOf(Uint8Array.from(pixels), size));
}
await browser.close();
