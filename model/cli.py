"""The command line: `python -m model COMMAND [options] [--json]`. Words are read here; the answers are made elsewhere."""
import argparse
import sys

from model import cli_cost, cli_moves
from model.batching import REPLIES
from model.cli_text import as_json, as_text
from model.paging import CHATS

HELP = """python -m model COMMAND [options] [--json]

  pass      what one pass over the model costs   --users --prompt-tokens
  memory    who fits on the card                 --users --context --utilization
  batch     static and continuous batching       --slots --replies
  pages     KV memory reserved, or in pages      --page-size --longest --chats
  chunk     a long document in chunks            --document --chunk --users
  guess     speculative decoding                 --guesses --acceptance --draft
  serve     a simulated server under load        --rate --prompt --output
  settings  what flags of llama.cpp or vllm do   --ctx --slots, --max-model-len
  llm, gpu  a record, or all of them             NAME, or --config config.json
  check     predictions beside measurements      FILE.csv

Everywhere: --llm --gpu --engine --weights --kv --config --json.
More: python -m model COMMAND --help"""


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, without the usage around it."""

    def error(self, message):
        """A ValueError instead of argparse's own exit."""
        hint = "; add --help to see the options" if message.startswith(("unrecognized", "the following")) else ""
        raise ValueError(message + hint)


def main(argv=None):
    """Runs a command; returns the exit status: 0, or 2 after one line on stderr about bad input."""
    words = sys.argv[1:] if argv is None else list(argv)
    if not words or words[0] in ("-h", "--help", "help"):
        print(HELP)
        return 0
    try:
        if words[0] == "check":
            from model.check import main as check  # it reads measurements: loaded only where they are asked for
            return check(words[1:]) or 0
        args = parser().parse_args(words)
        report = args.answer(args)
        print(as_json(report) if args.json else as_text(report))
    except ValueError as fault:
        print(f"python -m model: {' '.join(str(fault).split())}", file=sys.stderr)
        return 2
    return 0


def parser():
    """The Parser of all commands."""
    top = Parser(prog="python -m model", add_help=False)
    commands = top.add_subparsers(required=True, metavar="COMMAND", parser_class=Parser)
    _pass(_command(commands, "pass", cli_cost.one_pass, users=1, context=0))
    _memory(_command(commands, "memory", cli_cost.memory, users=1, context=8192))
    _batch(_command(commands, "batch", cli_moves.batches))
    _pages(_command(commands, "pages", cli_moves.paged))
    _chunk(_command(commands, "chunk", cli_moves.chunk, users=9, context=2048))
    _guess(_command(commands, "guess", cli_moves.guess, users=1, context=256))
    _serve(_command(commands, "serve", cli_moves.served))
    servers = commands.add_parser("settings", help="what a server does with its flags").add_subparsers(
        required=True, metavar="llama.cpp|vllm", parser_class=Parser)
    _llama_cpp(_command(servers, "llama.cpp", cli_cost.settings))
    _vllm(_command(servers, "vllm", cli_cost.settings))
    _command(commands, "llm", cli_cost.llm).add_argument("name", nargs="?", metavar="NAME")
    _command(commands, "gpu", cli_cost.gpu).add_argument("name", nargs="?", metavar="NAME")
    return top


def _command(commands, name, answer, users=1, context=2048):
    """A command with the options that all of them have."""
    p = commands.add_parser(name, help=answer.__doc__, description=answer.__doc__, allow_abbrev=False)
    p.set_defaults(answer=answer)
    p.add_argument("--llm", default="llama-3.1-8b", metavar="NAME", help="model (python -m model llm lists them)")
    p.add_argument("--config", metavar="FILE", help="a Hugging Face config.json instead of --llm")
    p.add_argument("--gpu", default="rtx-4090", metavar="NAME", help="card (python -m model gpu lists them)")
    p.add_argument("--engine", default="datasheet", metavar="NAME", help="datasheet, or an engine with measured terms")
    p.add_argument("--weights", default="f16", metavar="FORMAT", help="format of the weights, such as f16, fp8, q4_k_m")
    p.add_argument("--kv", default="f16", metavar="FORMAT", help="format of the KV cache, such as f16, fp8, q8_0")
    _number(p, "--users", _whole, users, "people at once")
    _number(p, "--context", _whole, context, "tokens that each of them holds in the KV cache")
    p.add_argument("--json", action="store_true", help="JSON; keys carry their unit")
    return p


def _number(p, flag, kind, default, what):
    p.add_argument(flag, type=kind, default=default, metavar="N", help=f"{what} (default {default})")


def _whole(text):
    """A whole number."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} must be a whole number, such as 10") from None


def _real(text):
    """A number."""
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} must be a number, such as 0.9") from None


def _list(text):
    """Whole numbers with commas between them."""
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} must be whole numbers with commas between, such as 24,26,10") from None


def _card(p):
    _number(p, "--utilization", _real, None, "share of the card that the server may take; 0.92 on the datasheet")
    _number(p, "--overhead-bytes", _real, None, "bytes besides weights and KV cache; 1.2e9 on the datasheet")


def _pass(p):
    _number(p, "--prompt-tokens", _whole, 0, "tokens of a prompt that the pass reads")
    _number(p, "--prompt-offset", _whole, 0, "tokens of that prompt that are in the KV cache already")


def _memory(p):
    _card(p)


def _batch(p):
    _number(p, "--slots", _whole, 4, "replies written at once")
    p.add_argument("--replies", type=_list, default=REPLIES, metavar="N,N,...", help="their lengths in steps")


def _pages(p):
    _number(p, "--page-size", _whole, 16, "tokens of a page")
    _number(p, "--longest", _whole, 8192, "longest chat allowed, tokens")
    _number(p, "--shared", _whole, 0, "tokens of a system prompt that all chats begin with")
    p.add_argument("--chats", type=_list, default=CHATS, metavar="N,N,...", help="their lengths in tokens")
    _card(p)


def _chunk(p):
    _number(p, "--document", _whole, 8192, "tokens of the document")
    _number(p, "--chunk", _whole, 256, "tokens of a chunk")


def _guess(p):
    _number(p, "--guesses", _whole, 4, "tokens guessed at a time")
    _number(p, "--acceptance", _real, 0.8, "chance that a guess is right")
    p.add_argument("--draft", default="llama-3.2-1b", metavar="NAME", help="the small model that guesses")


def _serve(p):
    _number(p, "--rate", _real, 1.0, "requests a second")
    _number(p, "--prompt", _whole, 512, "tokens of a prompt")
    _number(p, "--output", _whole, 128, "tokens of a reply")
    _number(p, "--requests", _whole, 100, "how many in all")
    _number(p, "--seed", _whole, 0, "of the arrivals and lengths")
    _number(p, "--max-batched-tokens", _whole, 2048, "tokens of one pass at most")
    _number(p, "--max-seqs", _whole, 256, "conversations in one pass at most")
    _number(p, "--page-size", _whole, 16, "tokens of a page")
    _number(p, "--shared", _whole, 0, "tokens of a system prompt that all prompts begin with")
    _number(p, "--spread", _real, 0.0, "of the lengths: standard deviation of their logarithm, 0 for all alike")
    _card(p)


def _llama_cpp(p):
    p.set_defaults(server="llama.cpp")
    _number(p, "--ctx", _whole, 0, "-c: tokens of KV cache; 0 is the model's longest context")
    _number(p, "--slots", _whole, None, "-np: conversations at once; left out, 4 share one pool")
    p.add_argument("--kv-unified", action="store_true", help="all slots share one pool")


def _vllm(p):
    p.set_defaults(server="vllm")
    _number(p, "--max-model-len", _whole, None, "longest conversation, tokens; left out, the model's longest context")
    _number(p, "--max-num-seqs", _whole, None, "conversations in one pass at most; left out, the card's default")
    _card(p)
