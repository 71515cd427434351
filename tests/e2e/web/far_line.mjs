// A long and bad line between a browser and a host: every piece comes DELAY_MS later, and one packet
// in twenty is lost. What TCP then does is what the browser meets: the bytes come in their order, but
// late, after the next packets told of the loss or, where none follow, after a time-out. (The delay
// and the losses are not the kernel's: not every kernel can do that.)
import { once } from 'node:events';
import net from 'node:net';

const DELAY_MS = 20; // one way
const ONE_LOST_OF = 20; // 5 %
const PACKET_BYTES = 1460;
const PACKETS_THAT_TELL = 3; // behind the lost one: it is sent again at once
const TIMEOUT_MS = 200; // otherwise

// One direction of a connection.
class Late {
  #line;
  #to;
  #waiting = []; // [when it is there, its bytes; null: the end], in the order of both
  #last = 0;
  #packets = 0;
  #timer;

  constructor(line, from, to) {
    this.#line = line;
    this.#to = to;
    from.on('data', (bytes) => this.#send(bytes));
    from.on('end', () => this.#send(null));
    from.on('error', () => to.destroy());
    from.on('close', (failed) => failed && to.destroy());
    to.on('close', () => clearTimeout(this.#timer));
  }

  #send(bytes) {
    const packets = Math.ceil((bytes?.length ?? 0) / PACKET_BYTES);
    const before = Math.floor(this.#packets / ONE_LOST_OF);
    this.#packets += packets;
    const lost = Math.floor(this.#packets / ONE_LOST_OF) - before;
    this.#line.packets += packets;
    this.#line.lost += lost;
    const again = packets > PACKETS_THAT_TELL ? 2 * DELAY_MS : TIMEOUT_MS;
    this.#last = Math.max(this.#last, Date.now() + DELAY_MS + (lost > 0 ? again : 0));
    this.#waiting.push([this.#last, bytes]);
    if (this.#waiting.length === 1) this.#deliver();
  }

  #deliver() {
    while (this.#waiting.length > 0 && this.#waiting[0][0] <= Date.now()) {
      const [, bytes] = this.#waiting.shift();
      if (this.#to.destroyed) return;
      if (bytes) this.#to.write(bytes);
      else this.#to.end();
    }
    if (this.#waiting.length === 0) return;
    const wait = Math.max(1, this.#waiting[0][0] - Date.now());
    this.#timer = setTimeout(() => this.#deliver(), wait);
  }
}

export class FarLine {
  packets = 0;
  lost = 0;
  #sockets = new Set();

  /** Its port, which leads to `port` of this machine. */
  async open(port) {
    this.server = net.createServer({ allowHalfOpen: true, noDelay: true }, (near) => {
      const far = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
      for (const socket of [near, far]) {
        this.#sockets.add(socket);
        socket.on('close', () => this.#sockets.delete(socket));
      }
      new Late(this, near, far);
      new Late(this, far, near);
    });
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return this.server.address().port;
  }

  close() {
    for (const socket of [...this.#sockets]) socket.destroy();
    this.server.close();
  }
}
