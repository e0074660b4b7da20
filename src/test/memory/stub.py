"""An engine that answers at once: as SGLang, streams as long as max_tokens says, 1 KiB a token. Standard library only."""
import asyncio
import json
import re
import sys

MODEL = "m"
CHUNK = b"data: " + json.dumps({
    "id": "c", "object": "chat.completion.chunk", "created": 1, "model": MODEL,
    "choices": [{"index": 0, "delta": {"content": "x" * 900}, "finish_reason": None}]}).encode() + b"\n\n"
END = b"data: " + json.dumps({
    "id": "c", "object": "chat.completion.chunk", "created": 1, "model": MODEL,
    "choices": [{"index": 0, "delta": {}, "finish_reason": "length"}]}).encode() + b"\n\ndata: [DONE]\n\n"
TOLD = {
    "/v1/models": {"object": "list", "data": [{"id": MODEL, "object": "model", "owned_by": "sglang", "max_model_len": 1000000}]},
    "/get_server_info": {"version": "0.5.23", "page_size": 1, "dp_size": 1, "served_model_name": MODEL},
    "/server_info": {"version": "0.5.23", "page_size": 1, "dp_size": 1, "served_model_name": MODEL},
}


def plain(status, body):
    return b"HTTP/1.1 %s\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % (status, len(body)) + body


async def answer(writer, body):
    asked = re.search(rb'"max_tokens": ?(\d+)', body)
    tokens = int(asked[1]) if asked else 8
    if b'"stream": true' not in body:
        message = {"id": "c", "object": "chat.completion", "created": 1, "model": MODEL, "choices": [
            {"index": 0, "message": {"role": "assistant", "content": "x" * 900 * tokens}, "finish_reason": "length"}]}
        writer.write(plain(b"200 OK", json.dumps(message).encode()))
        return
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
    for _ in range(tokens):
        writer.write(b"%x\r\n%s\r\n" % (len(CHUNK), CHUNK))
        await writer.drain()
    writer.write(b"%x\r\n%s\r\n0\r\n\r\n" % (len(END), END))


async def serve(reader, writer):
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            method, target = head.split(b" ", 2)[:2]
            length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
            body = await reader.readexactly(int(length[1])) if length else b""
            path = target.decode().split("?")[0]
            if method == b"POST":
                await answer(writer, body)
            elif path in TOLD:
                writer.write(plain(b"200 OK", json.dumps(TOLD[path]).encode()))
            elif path in ("/health", "/ready", "/ping"):
                writer.write(plain(b"200 OK", b"{}"))
            else:
                writer.write(plain(b"404 Not Found", b"{}"))
            await writer.drain()
    except (OSError, asyncio.IncompleteReadError):
        pass  # whoever asked has left
    finally:
        writer.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]), limit=1 << 20, backlog=4096)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
