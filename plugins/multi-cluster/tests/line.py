"""A line between a manager and a worker that can be slow, silent or cut.

    line = Line(port)            # connections to line.port come out at `port`
    line.slow(0.2)               # each piece takes so long
    line.silent()                # what is sent arrives nowhere, and nothing is closed
    line.cut()                   # all connections break, and further ones
    line.mend()
"""
import asyncio
import threading


class Line:
    def __init__(self, target):
        self.target, self.port = target, None
        self.delay, self.is_silent, self.is_cut = 0, False, False
        self.open = set()
        self.loop = asyncio.new_event_loop()
        ready = threading.Event()
        self.thread = threading.Thread(target=self.run, args=(ready,), daemon=True)
        self.thread.start()
        ready.wait()

    def run(self, ready):
        async def listen():
            server = await asyncio.start_server(self.accept, "127.0.0.1", 0)
            self.port = server.sockets[0].getsockname()[1]
        self.loop.run_until_complete(listen())
        ready.set()
        self.loop.run_forever()

    async def accept(self, reader, writer):
        self.open.add(writer)
        try:
            if self.is_cut:
                return
            there, to = await asyncio.open_connection("127.0.0.1", self.target)
            self.open.add(to)
            await asyncio.gather(self.carry(reader, to), self.carry(there, writer))
        except OSError:
            pass  # nobody listens there: so it is for whoever connects
        finally:
            writer.close()
            self.open.discard(writer)

    async def carry(self, reader, writer):
        try:
            while piece := await reader.read(65536):
                if self.delay:
                    await asyncio.sleep(self.delay)
                while self.is_silent:
                    await asyncio.sleep(0.05)
                writer.write(piece)
                await writer.drain()
        except OSError:
            pass  # the other end is gone, and so is this one
        finally:
            writer.close()
            self.open.discard(writer)

    def slow(self, delay):
        self.delay = delay

    def silent(self):
        self.is_silent = True

    def cut(self):
        self.is_cut = True
        self.loop.call_soon_threadsafe(self.break_all)

    def break_all(self):
        for writer in list(self.open):
            writer.transport.abort()

    def mend(self):
        self.delay, self.is_silent, self.is_cut = 0, False, False

    def close(self):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
