// The live host of these tests, seen from node: ends and starts again at the same address, with the
// same store; and a gate in front of it whose connections can be cut.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';

export class Host {
  #process;

  async start() {
    const folder = process.env.SLUICE_E2E_FOLDER;
    this.#process = spawn(process.env.SLUICE_E2E_SLUICE,
      ['serve', '--config', path.join(folder, 'sluice.yaml')],
      { cwd: folder, stdio: ['ignore', 'pipe', 'ignore'] });
    const [line] = await once(createInterface(this.#process.stdout), 'line');
    const ready = /^ready https:\/\/([\d.]+):(\d+)/.exec(line);
    if (!ready) throw new Error(`the host said: ${line}`);
    this.port = Number(ready[2]);
  }

  async stop(signal = 'SIGTERM') {
    const ended = once(this.#process, 'exit');
    this.#process.kill(signal);
    return (await ended)[0];
  }
}

// Passes bytes on; cut() ends all connections at once, in the middle of whatever they do.
export class Gate {
  #sockets = new Set();

  async open(port) {
    this.server = net.createServer((near) => {
      const far = net.connect(port, '127.0.0.1');
      for (const [from, to] of [[near, far], [far, near]]) {
        this.#sockets.add(from);
        from.on('error', () => to.destroy());
        from.on('close', () => { this.#sockets.delete(from); to.destroy(); });
        from.pipe(to);
      }
    });
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return this.server.address().port;
  }

  cut() {
    for (const socket of [...this.#sockets]) socket.resetAndDestroy();
  }

  close() {
    this.cut();
    this.server.close();
  }
}

// Waits for something that happens by itself; `look` may be asynchronous.
export async function eventually(look, what, seconds = 180) {
  const end = Date.now() + seconds * 1000;
  for (;;) {
    const value = await look();
    if (value) return value;
    if (Date.now() > end) throw new Error(`did not happen within ${seconds} s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
