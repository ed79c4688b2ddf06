"""The learnt player: a network made for this game, its masked distribution, its policy for SB3, its checkpoints.

The modules load PyTorch, all but `layout`; nothing else of `agents` does. It comes with the extra ``train``.
"""
