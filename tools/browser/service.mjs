// A `sightline` of the journey's own: its data folder, its settings, its commands.
import { spawn, execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const server = process.env.SERVER;

/** Returns a port that nobody listens on. */
export async function freePort() {
  const socket = createServer().listen(0, '127.0.0.1');
  await new Promise((listening) => socket.once('listening', listening));
  const { port } = socket.address();
  await new Promise((closed) => socket.close(closed));
  return port;
}

/** Starts a service with these settings, each the name of a variable without its prefix. */
export async function start(settings = {}) {
  const data = await mkdtemp(join(tmpdir(), 'sightline-'));
  const own = Object.fromEntries(
    Object.entries(settings).filter(([name]) => name !== 'PORT').map(([name, value]) => [`SIGHTLINE_${name}`, value]),
  );
  const env = {
    PATH: process.env.PATH,
    RUST_LOG: 'warn',
    SIGHTLINE_LISTEN: `127.0.0.1:${settings.PORT ?? 0}`,
    SIGHTLINE_DATA_DIR: join(data, 'data'),
    XDG_CONFIG_HOME: join(data, 'config'),
    ...own,
  };
  const child = spawn(server, ['serve'], { cwd: data, env, stdio: ['ignore', 'pipe', 'inherit'] });
  const url = await new Promise((listening, failed) => {
    let printed = '';
    child.stdout.on('data', (text) => {
      printed += text;
      const line = /^listening on (.*)$/m.exec(printed);
      if (line) listening(line[1]);
    });
    child.once('exit', (code) => failed(new Error(`serve ended with ${code}`)));
  });
  // Commands find the service by its settings.
  env.SIGHTLINE_LISTEN = new URL(url).host;
  return {
    url,
    /** Runs a command in the same folder, with the same settings, and returns what it prints. */
    async command(...args) {
      const { stdout } = await promisify(execFile)(server, args, { cwd: data, env });
      return stdout.trim();
    },
    /** Starts a command that waits for a sign-in in a browser: the address that it names, and what it prints at its end. */
    waiting(...args) {
      const command = spawn(server, args, { cwd: data, env, stdio: ['ignore', 'pipe', 'pipe'] });
      let [said, printed] = ['', ''];
      command.stdout.on('data', (text) => (printed += text));
      const ended = new Promise((end) => command.once('close', end));
      const address = new Promise((found, failed) => {
        command.stderr.on('data', (text) => {
          said += text;
          const line = /^  (http.*)$/m.exec(said);
          if (line) found(line[1]);
        });
        ended.then(() => failed(new Error(`${args[0]} names no address: ${said}`)));
      });
      const output = ended.then((code) => {
        if (code !== 0) throw new Error(`${args[0]} ended with ${code}: ${said}`);
        return printed.trim();
      });
      output.catch(() => {});
      return { address, output, stop: () => command.kill() };
    },
    async stop() {
      child.kill('SIGTERM');
      await new Promise((ended) => (child.exitCode === null ? child.once('exit', ended) : ended()));
      await rm(data, { recursive: true, force: true });
    },
  };
}
