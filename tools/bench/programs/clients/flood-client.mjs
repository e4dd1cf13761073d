/** `node flood-client.mjs URL KEY SOCKETS`: floods /api/live with frames that are refused, and connects again when it is hung up on. Says `ready` when all sockets were open once. */
import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';

const [url, key, count] = process.argv.slice(2);
const { hostname, port } = new URL(url);
const AGAIN_MS = 50;
const FRAMES = 8_000;
/** One letter, masked with zeros. */
const packet = Buffer.concat(Array.from({ length: FRAMES }, () => Buffer.from([0x81, 0x81, 0, 0, 0, 0, 0x78])));
const head = () =>
  `GET /api/live HTTP/1.1\r\nHost: ${hostname}:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${randomBytes(16).toString('base64')}\r\nAuthorization: Bearer ${key}\r\n\r\n`;

let opened = 0;
const flood = () => {
  const socket = connect(Number(port), hostname, () => socket.write(head()));
  const write = () => {
    while (!socket.destroyed && socket.write(packet));
  };
  socket.once('data', (answer) => {
    if (!answer.toString('latin1').startsWith('HTTP/1.1 101')) return socket.destroy();
    opened += 1;
    if (opened === Number(count)) console.log('ready');
    socket.on('drain', write);
    write();
    socket.resume();
  });
  socket.on('error', () => socket.destroy());
  socket.once('close', () => setTimeout(flood, AGAIN_MS));
};
for (let index = 0; index < Number(count); index += 1) flood();
